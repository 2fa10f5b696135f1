#include "rankwright/program/transfers.h"

#include <bit>

#include "rankwright/program/stage_to_rank.h"

namespace rankwright::program {
namespace {

/// A set of ranks, stored as bits so that skipping absent ranks costs almost nothing.
class RankSet {
 public:
  explicit RankSet(std::size_t ranks) : ranks_(ranks), words_(ranks / kBits + 1) {}

  void insert(std::size_t r) { words_[r / kBits] |= bit(r); }
  void erase(std::size_t r) { words_[r / kBits] &= ~bit(r); }
  /// Returns the first member >= r, or the number of ranks if there is none.
  std::size_t next(std::size_t r) const {
    std::size_t word = r / kBits;
    std::uint64_t left = words_[word] & ~(bit(r) - 1);
    while (left == 0 && ++word < words_.size()) left = words_[word];
    return left == 0 ? ranks_ : word * kBits + std::size_t(std::countr_zero(left));
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(std::size_t r) { return std::uint64_t{1} << (r % kBits); }

  std::size_t ranks_;
  std::vector<std::uint64_t> words_;
};

/// Runs the ranks in turn, one cell each, and records their actions. A rank that has to wait is
/// skipped until another rank produces something for it.
class Placer {
 public:
  Placer(const pipeline::Sequences& cells, i64 stages, i64 microbatches)
      : cells_(cells),
        stages_(stages),
        microbatches_(microbatches),
        stage_to_rank_(cells, stages, microbatches),
        state_(stage_to_rank_.size(), 0),
        next_(cells.size(), 0),
        awake_(cells.size()),
        roles_(cells.size()) {
    for (std::size_t r = 0; r < cells.size(); ++r) {
      awake_.insert(r);
      // A cell receives and sends at most one message. Unused memory is never touched.
      roles_[r].reserve(3 * cells[r].size());
    }
  }

  Program run() {
    const std::size_t all = cells_.size();
    for (std::size_t r = 0; r < all; ++r) steps(r);
    for (std::size_t first = awake_.next(0); first < all; first = awake_.next(0)) {
      bool moved = false;
      for (std::size_t r = first; r < all; r = awake_.next(r + 1)) moved = turn(r) || moved;
      // Every rank waits for another, so the order of cells has a cycle. The first blocked rank
      // posts its receive here, so that a Program results and the proof can report the cycle.
      if (!moved) force();
    }
    return {.stages = stages_,
            .microbatches = microbatches_,
            .roles = std::move(roles_),
            .stage_to_rank = std::move(stage_to_rank_)};
  }

 private:
  enum Flag : std::uint8_t { kForward = 1, kGradient = 2, kHasInput = 4, kHasGradient = 8 };

  std::uint8_t& state(i64 stage, i64 microbatch) {
    return state_[stage_to_rank_.index(stage, microbatch)];
  }

  bool ready(const pipeline::Action& a) {
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind == pipeline::ActionKind::forward)
      return s == 0 || ((state(s - 1, m) & kForward) != 0) || ((state(s, m) & kHasInput) != 0);
    if (gives_gradient(a.kind))
      return s == stages_ - 1 || ((state(s + 1, m) & kGradient) != 0) ||
             ((state(s, m) & kHasGradient) != 0);
    return true;
  }

  /// Runs one cell of r, or joined cells; returns false if it has to wait or has none left.
  bool turn(std::size_t r) {
    const bool moves = next_[r] < cells_[r].size() && ready(r);
    if (!moves) {
      awake_.erase(r);
      return false;
    }
    emit(r);
    steps(r);
    return true;
  }

  bool ready(std::size_t r) {
    std::size_t i = next_[r];
    for (; cells_[r][i].joined != 0; ++i)
      if (!ready(cells_[r][i])) return false;
    return ready(cells_[r][i]);
  }

  /// Copies the role's own steps. They do not wait here: they come right after the preceding cell
  /// and its sends, before receives that other ranks cause later.
  void steps(std::size_t r) {
    while (next_[r] < cells_[r].size() && cells_[r][next_[r]].kind == pipeline::ActionKind::step)
      roles_[r].push_back(cells_[r][next_[r]++]);
  }

  void emit(std::size_t r) {
    const std::size_t first = next_[r];
    // Hundreds of sequences are read and written in turn, too many for the hardware prefetcher.
    constexpr std::size_t kAhead = 24;
    __builtin_prefetch(cells_[r].data() + first + kAhead);
    __builtin_prefetch(roles_[r].data() + roles_[r].size() + kAhead, 1);
    do roles_[r].push_back(cells_[r][next_[r]]);
    while (cells_[r][next_[r]++].joined != 0);
    for (std::size_t i = first; i < next_[r]; ++i) hand_on(r, cells_[r][i]);
  }

  void hand_on(std::size_t r, const pipeline::Action& a) {
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind == pipeline::ActionKind::forward) {
      state(s, m) |= kForward;
      if (s + 1 < stages_)
        transfer(r, pipeline::ActionKind::send_forward, s, pipeline::ActionKind::recv_forward,
                 s + 1, m, kHasInput);
    } else if (gives_gradient(a.kind)) {
      state(s, m) |= kGradient;
      if (s > 0)
        transfer(r, pipeline::ActionKind::send_backward, s, pipeline::ActionKind::recv_backward,
                 s - 1, m, kHasGradient);
    }
  }

  void transfer(std::size_t r, pipeline::ActionKind send, i64 from, pipeline::ActionKind recv,
                i64 to, i64 m, Flag has) {
    const i64 other = stage_to_rank_.of(to, m);
    if (other == i64(r) || other == StageToRank::kNobody) return;
    awake_.insert(std::size_t(other));
    post(r, action(send, from, m));
    if ((state(to, m) & has) == 0) post(std::size_t(other), action(recv, to, m));
    state(to, m) |= has;
  }

  void post(std::size_t r, pipeline::Action transfer) {
    pipeline::Sequence& role = roles_[r];
    if (!role.empty() && is_transfer(role.back().kind)) role.back().joined = 1;
    role.push_back(transfer);
  }

  /// Wakes the first rank that has cells left, if any, when no rank can move.
  void force() {
    while (waits_ < cells_.size() && next_[waits_] == cells_[waits_].size()) ++waits_;
    if (waits_ == cells_.size()) return;
    awake_.insert(waits_);
    for (std::size_t i = next_[waits_];; ++i) {
      const pipeline::Action& a = cells_[waits_][i];
      if (!ready(a)) receive_here(waits_, a);
      if (a.joined == 0) return;
    }
  }

  void receive_here(std::size_t r, const pipeline::Action& a) {
    const bool forward = a.kind == pipeline::ActionKind::forward;
    const i64 from = forward ? i64(a.stage) - 1 : i64(a.stage) + 1;
    state(a.stage, a.microbatch) |= forward ? kHasInput : kHasGradient;
    if (stage_to_rank_.of(from, a.microbatch) != i64(r))
      post(r, action(forward ? pipeline::ActionKind::recv_forward
                             : pipeline::ActionKind::recv_backward,
                     a.stage, a.microbatch));
  }

  const pipeline::Sequences& cells_;
  i64 stages_;
  i64 microbatches_;
  StageToRank stage_to_rank_;
  std::vector<std::uint8_t> state_;
  std::vector<std::size_t> next_;
  RankSet awake_;
  std::size_t waits_ = 0;  // all ranks before this one have run all their cells
  pipeline::Sequences roles_;
};

}  // namespace

Program add_transfers(const pipeline::Sequences& cells, i64 stages, i64 microbatches) {
  return Placer(cells, stages, microbatches).run();
}

}  // namespace rankwright::program
