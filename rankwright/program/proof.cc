#include "rankwright/program/proof.h"

#include <algorithm>

#include "rankwright/program/cross_stage_collectives.h"

namespace rankwright::program {
namespace {

constexpr std::size_t kMaxMisplaced = 8;  // further reports would add nothing

/// State of a message, indexed by (receiving stage, microbatch), separately for activations and
/// gradients.
enum Flag : std::uint8_t {
  kSent = 1,      // the program has its send (ProgramReader), or its send is posted (Runner)
  kReceived = 2,  // likewise for its receive
  kComputed = 4,  // that stage has computed its forward (activations) or gradient (gradients)
};

/// Returns the index of a message in the table of its kind.
std::size_t message_index(const StageToRank& stage_to_rank, const pipeline::Action& transfer) {
  const i64 k = boundary(transfer);
  return stage_to_rank.index(is_activation(transfer.kind) ? k + 1 : k, transfer.microbatch);
}

/// Flags of all messages and cells of a program.
class Messages {
 public:
  Messages(const Program& program, const StageToRank& stage_to_rank)
      : stage_to_rank_(stage_to_rank), last_(program.stages - 1) {
    clear();
  }

  void clear() {
    activations_.assign(stage_to_rank_.size(), 0);
    gradients_.assign(stage_to_rank_.size(), 0);
  }

  /// Returns the flags of the message that `transfer` sends or receives.
  std::uint8_t& of(const pipeline::Action& transfer) {
    return (is_activation(transfer.kind) ? activations_
                                         : gradients_)[message_index(stage_to_rank_, transfer)];
  }
  std::uint8_t& forward(i64 stage, i64 microbatch) {
    return activations_[stage_to_rank_.index(stage, microbatch)];
  }
  std::uint8_t& gradient(i64 stage, i64 microbatch) {
    return gradients_[stage_to_rank_.index(stage, microbatch)];
  }
  bool crosses(const pipeline::Action& transfer) const {
    const i64 k = boundary(transfer);
    return k >= 0 && k < last_;
  }

 private:
  const StageToRank& stage_to_rank_;
  i64 last_;
  std::vector<std::uint8_t> activations_{}, gradients_{};
};

/// Reads each rank's actions from the start and checks that every input is available when it is
/// used and that every message has a send and a receive.
class ProgramReader {
 public:
  ProgramReader(const Program& program, const StageToRank& stage_to_rank)
      : program_(program), stage_to_rank_(stage_to_rank), messages_(program, stage_to_rank) {}

  std::vector<Misplaced> run() {
    for (std::size_t r = 0; r < program_.roles.size(); ++r)
      for (i64 i = 0, end = 0; i < i64(program_.roles[r].size()); i = end) {
        for (end = i + 1; at(i64(r), end - 1).joined != 0; ++end) {
        }
        // Joined actions start together, so check all of them before marking any as done.
        for (i64 k = i; k < end; ++k) check(i64(r), k);
        for (i64 k = i; k < end; ++k) mark(i64(r), k);
      }
    for (std::size_t r = 0; r < program_.roles.size(); ++r)
      for (std::size_t i = 0; i < program_.roles[r].size(); ++i) match(i64(r), i64(i));
    return std::move(found_);
  }

 private:
  using Why = Misplaced::Why;

  const pipeline::Action& at(i64 r, i64 i) const {
    return program_.roles[std::size_t(r)][std::size_t(i)];
  }
  void fault(Why why, i64 r, i64 i) {
    if (found_.size() < kMaxMisplaced) found_.push_back({why, r, i, at(r, i)});
  }

  /// No message is needed if stage s - 1 runs on the same rank.
  bool has_input(i64 r, i64 s, i64 m) {
    if (s == 0 || (messages_.forward(s, m) & kReceived) != 0) return true;
    return stage_to_rank_.of(s - 1, m) == r && (messages_.forward(s - 1, m) & kComputed) != 0;
  }
  bool has_gradient(i64 r, i64 s, i64 m) {
    if (s == program_.stages - 1 || (messages_.gradient(s, m) & kReceived) != 0) return true;
    return stage_to_rank_.of(s + 1, m) == r && (messages_.gradient(s + 1, m) & kComputed) != 0;
  }

  /// Records a fault if the inputs of an action are not available at its position.
  void check(i64 r, i64 i) {
    const pipeline::Action& a = at(r, i);
    const i64 s = a.stage, m = a.microbatch;
    const bool mine = a.kind != pipeline::ActionKind::step && stage_to_rank_.of(s, m) == r;
    const auto computed = [&](std::uint8_t flags) { return mine && (flags & kComputed) != 0; };
    switch (a.kind) {
      case pipeline::ActionKind::forward:
        if (!has_input(r, s, m)) fault(Why::early, r, i);
        break;
      case pipeline::ActionKind::backward:
      case pipeline::ActionKind::input_grad:
        if (!computed(messages_.forward(s, m)) || !has_gradient(r, s, m)) fault(Why::early, r, i);
        break;
      case pipeline::ActionKind::weight_grad:
        if (!computed(messages_.gradient(s, m))) fault(Why::early, r, i);
        break;
      case pipeline::ActionKind::send_forward:
        if (!computed(messages_.forward(s, m))) fault(Why::unsent, r, i);
        break;
      case pipeline::ActionKind::send_backward:
        if (!computed(messages_.gradient(s, m))) fault(Why::unsent, r, i);
        break;
      case pipeline::ActionKind::recv_forward:
      case pipeline::ActionKind::recv_backward:
        if (!mine) fault(Why::elsewhere, r, i);
        break;
      case pipeline::ActionKind::step:
        break;
    }
  }

  /// Marks the results of an action as available.
  void mark(i64 r, i64 i) {
    const pipeline::Action& a = at(r, i);
    if (a.kind == pipeline::ActionKind::forward)
      messages_.forward(a.stage, a.microbatch) |= kComputed;
    if (gives_gradient(a.kind)) messages_.gradient(a.stage, a.microbatch) |= kComputed;
    if (is_transfer(a.kind)) post(r, i, is_send(a.kind) ? kSent : kReceived);
  }

  void post(i64 r, i64 i, Flag end) {
    const pipeline::Action& a = at(r, i);
    if (!messages_.crosses(a)) return;
    std::uint8_t& flags = messages_.of(a);
    if ((flags & end) != 0) fault(Why::twice, r, i);
    flags |= end;
  }

  void match(i64 r, i64 i) {
    const pipeline::Action& a = at(r, i);
    if (!is_transfer(a.kind)) return;
    const Flag other = is_send(a.kind) ? kReceived : kSent;
    if (!messages_.crosses(a) || (messages_.of(a) & other) == 0)
      fault(is_send(a.kind) ? Why::no_receive : Why::no_send, r, i);
  }

  const Program& program_;
  const StageToRank& stage_to_rank_;
  Messages messages_;
  std::vector<Misplaced> found_{};
};

/// Returns the rank at the other end of a transfer that crosses a boundary.
i64 partner(const StageToRank& stage_to_rank, const pipeline::Action& transfer) {
  const i64 k = boundary(transfer);
  return stage_to_rank.of(i64(transfer.stage) == k ? k + 1 : k, transfer.microbatch);
}

/// Compares the order in which a rank receives from another rank with the order in which that rank
/// sends. Requires: every message has a send and a receive.
class CallMatcher {
 public:
  explicit CallMatcher(const Program& program)
      : program_(program),
        activations_(program.stage_to_rank.size()),
        gradients_(program.stage_to_rank.size()),
        count_(program.roles.size()) {}

  std::vector<Misplaced> run() {
    for_each(true,
             [&](i64, i64, const pipeline::Action& a, std::uint32_t number) { sent(a) = number; });
    std::vector<Misplaced> found;
    for_each(false, [&](i64 r, i64 i, const pipeline::Action& a, std::uint32_t number) {
      if (sent(a) != number && found.size() < kMaxMisplaced)
        found.push_back({Misplaced::Why::crossed, r, i, a, i64(sent(a)), i64(number)});
    });
    return found;
  }

 private:
  /// Visits all sends, or all receives, with their number (from 1) between the same two ranks.
  template <class Visit>
  void for_each(bool sends, const Visit& visit) {
    for (std::size_t r = 0; r < program_.roles.size(); ++r) {
      const pipeline::Sequence& role = program_.roles[r];
      for (std::size_t i = 0; i < role.size(); ++i)
        if (is_transfer(role[i].kind) && is_send(role[i].kind) == sends)
          visit(i64(r), i64(i), role[i], ++count(role[i]));
      for (const pipeline::Action& a : role)
        if (is_transfer(a.kind)) count(a) = 0;
    }
  }

  std::uint32_t& count(const pipeline::Action& a) {
    return count_[std::size_t(partner(program_.stage_to_rank, a))];
  }
  /// Returns the number under which the message was sent.
  std::uint32_t& sent(const pipeline::Action& a) {
    return (is_activation(a.kind) ? activations_
                                  : gradients_)[message_index(program_.stage_to_rank, a)];
  }

  const Program& program_;
  std::vector<std::uint32_t> activations_, gradients_;  // as in Messages
  std::vector<std::uint32_t> count_;                    // for the current rank, by the other rank
};

/// Runs all ranks until they finish or block. Only transfers and cross-stage collectives block;
/// computation takes no time.
class Runner {
 public:
  Runner(const Program& program, const StageToRank& stage_to_rank,
         const CrossStageCollectives& collectives, bool buffered)
      : program_(program),
        stage_to_rank_(stage_to_rank),
        cross_stage_(collectives),
        buffered_(buffered),
        messages_(program, stage_to_rank),
        next_(program.roles.size(), 0),
        posted_(program.roles.size(), 0),
        arrived_(collectives.members.size(), 0) {}

  std::vector<Waiting> run() {
    // Posting a transfer wakes the rank at its other end. A transfer on the wrong rank wakes the
    // wrong one, so all blocked ranks are retried until none makes progress.
    for (bool moved = true; moved;) {
      moved = false;
      for (i64 r = program_.pp() - 1; r >= 0; --r)
        if (!ended(r)) awake_.push_back(r);
      while (!awake_.empty()) {
        const i64 r = awake_.back();
        awake_.pop_back();
        while (advance(r)) moved = true;
      }
    }
    return stuck();
  }

 private:
  const pipeline::Sequence& role(i64 r) const { return program_.roles[std::size_t(r)]; }
  bool ended(i64 r) const { return next_[std::size_t(r)] == role(r).size(); }

  /// Runs one cell, batch or step of rank r; returns false if it has to wait.
  bool advance(i64 r) {
    std::size_t& next = next_[std::size_t(r)];
    if (ended(r)) return false;
    const pipeline::Action& a = role(r)[next];
    if (a.kind == pipeline::ActionKind::step) return meet(r, a);
    if (is_cell(a.kind)) {
      ++next;
      return true;
    }
    if (posted_[std::size_t(r)] <= next) post(r);
    // Completed transfers stay complete, so a long batch is not rescanned.
    while (next < posted_[std::size_t(r)] && complete(role(r)[next])) ++next;
    return next == posted_[std::size_t(r)];
  }

  /// Posts the transfers of the batch that r has reached.
  void post(i64 r) {
    std::size_t& posted = posted_[std::size_t(r)];
    posted = next_[std::size_t(r)];
    for (bool more = true; more; ++posted) {
      const pipeline::Action& a = role(r)[posted];
      more = a.joined != 0;
      if (!messages_.crosses(a)) continue;
      messages_.of(a) |= is_send(a.kind) ? kSent : kReceived;
      const i64 other = partner(stage_to_rank_, a);
      if (other != r && other != StageToRank::kNobody) awake_.push_back(other);
    }
  }

  bool complete(const pipeline::Action& a) {
    if (!messages_.crosses(a)) return false;
    if (is_send(a.kind)) return buffered_ || (messages_.of(a) & kReceived) != 0;
    return (messages_.of(a) & kSent) != 0;
  }

  bool meet(i64 r, const pipeline::Action& a) {
    std::size_t& next = next_[std::size_t(r)];
    const i64 collective = cross_stage_.of_step[std::size_t(r)][a.microbatch];
    if (collective != CrossStageCollectives::kNone) {
      const std::vector<i64>& members = cross_stage_.members[std::size_t(collective)];
      i64& arrived = arrived_[std::size_t(collective)];
      if (posted_[std::size_t(r)] <= next) {
        posted_[std::size_t(r)] = next + 1;
        if (++arrived == i64(members.size()))
          awake_.insert(awake_.end(), members.begin(), members.end());
      }
      if (arrived < i64(members.size())) return false;
    }
    ++next;
    return true;
  }

  /// Returns the action at which r is blocked and the rank it waits for.
  Waiting waiting(i64 r) {
    const std::size_t next = next_[std::size_t(r)];
    const pipeline::Action& a = role(r)[next];
    if (a.kind == pipeline::ActionKind::step) {
      const i64 collective = cross_stage_.of_step[std::size_t(r)][a.microbatch];
      for (const i64 other : cross_stage_.members[std::size_t(collective)])
        if (!is_at_collective(other, collective))
          return {r, i64(next), a, ended(other) ? -1 : other};
      return {r, i64(next), a, -1};
    }
    const i64 other = messages_.crosses(a) ? partner(stage_to_rank_, a) : StageToRank::kNobody;
    return {r, i64(next), a, other == StageToRank::kNobody || ended(other) ? -1 : other};
  }

  bool is_at_collective(i64 r, i64 collective) const {
    if (ended(r)) return false;
    const pipeline::Action& a = role(r)[next_[std::size_t(r)]];
    return a.kind == pipeline::ActionKind::step &&
           cross_stage_.of_step[std::size_t(r)][a.microbatch] == collective;
  }

  /// Follows the wait-for chain from the first blocked rank; if it ends in a cycle, returns only
  /// the cycle.
  std::vector<Waiting> stuck() {
    std::vector<Waiting> chain;
    for (i64 r = 0; r < program_.pp() && chain.empty(); ++r)
      if (!ended(r)) chain.push_back(waiting(r));
    std::vector<i64> place(program_.roles.size(), -1);  // in the chain, by rank
    while (!chain.empty() && chain.back().other >= 0) {
      place[std::size_t(chain.back().pp_rank)] = i64(chain.size()) - 1;
      const i64 other = chain.back().other;
      if (const i64 seen = place[std::size_t(other)]; seen >= 0) {
        chain.erase(chain.begin(), chain.begin() + seen);
        break;
      }
      chain.push_back(waiting(other));
    }
    return chain;
  }

  const Program& program_;
  const StageToRank& stage_to_rank_;
  const CrossStageCollectives& cross_stage_;
  bool buffered_;
  Messages messages_;
  std::vector<std::size_t> next_;    // by rank: its first action that is not complete
  std::vector<std::size_t> posted_;  // by rank: end of the actions that are posted
  std::vector<i64> arrived_;         // by collective: members that have reached it
  std::vector<i64> awake_{};         // ranks to try next
};

}  // namespace

Proof prove(const Program& program) {
  const CrossStageCollectives collectives = find_cross_stage_collectives(program);
  Proof proof;
  for (const pipeline::Sequence& role : program.roles) proof.actions += i64(role.size());
  proof.misplaced = ProgramReader(program, program.stage_to_rank).run();
  proof.mismatch = collectives.mismatch;
  proof.rendezvous = Runner(program, program.stage_to_rank, collectives, false).run();
  proof.buffered = Runner(program, program.stage_to_rank, collectives, true).run();
  // The order of messages is only meaningful if the program runs to its end.
  if (proof.misplaced.empty() && proof.buffered.empty())
    proof.misplaced = CallMatcher(program).run();
  return proof;
}

}  // namespace rankwright::program
