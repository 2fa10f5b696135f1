#include "rankwright/rules/proof_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/program/expand.h"
#include "rankwright/program/transfers.h"

namespace rankwright::rules {
namespace {

constexpr Severity kError = Severity::error;

// Indexed by Code, below.
constexpr Page kPages[] = {
    {"RW0421", kError, "actions are missing, repeated or on the wrong rank",
     "Every stage runs each micro-batch forward once and backward once (B, or I and W), on the "
     "same rank. If an action is missing, other ranks wait forever. If it runs twice, its gradient "
     "counts twice.",
     "Add, remove or move the action that the message names.", "",
     "0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n"},
    {"RW0422", kError, "the schedule deadlocks",
     "Each rank runs its actions in the order written. Here some of them wait for each other in a "
     "cycle. Neither faster ranks nor buffered messages help: the job hangs until a watchdog kills "
     "it.",
     "Move the action that another rank waits for before the action at which its own rank waits.",
     "", "0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n"},
    {"RW0423", kError, "the schedule deadlocks unless sends are buffered",
     "A blocking send returns when the other side receives. If two ranks send to each other before "
     "they receive, both wait. Small messages fit into the library's buffers and hide the problem; "
     "with large messages, or with NCCL, which does not buffer, the job hangs.",
     "Post the send and the receive together as one batch: (0SEND_F0;0RECV_B0).",
     "MPI 4.1, section 3.5, on programs that rely on buffering",
     "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
     "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"},
    {"RW0424", kError, "a send without a receive, or a receive without a send",
     "Every message has one sender and one receiver. A send or receive without a partner waits "
     "forever, or matches the next message and shifts all later ones.",
     "Add the missing send or receive, or remove this one.", "",
     "0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"},
    {"RW0425", kError, "an action runs before its input",
     "On its rank, the action runs before its input is received or computed, or the send runs "
     "before the action that produces its data. It would use stale data from the buffer.",
     "Move it after the action that produces its input.", "", "0B0,0F0\n"},
    {"RW0426", kError, "ranks of a group call their collectives in different orders",
     "Collectives match in the order in which each rank calls them. If one rank calls another "
     "collective, or none, the group hangs or mixes data.",
     "Call them in the same order on all ranks of the group.", "NCCL user guide, group calls", ""},
    {"RW0427", kError, "messages are received in a different order than they are sent",
     "NCCL has no tags: messages between two ranks match by order, also inside a batch. A receive "
     "out of order gets the tensor of another micro-batch or stage. If the shapes are equal, no "
     "error is raised.",
     "List the receives from a rank in the order in which that rank sends.",
     "NCCL user guide, point-to-point communication",
     "0F0,0F1,(0SEND_F0;0SEND_F1),0RECV_B0,0B0,0RECV_B1,0B1\n"
     "(1RECV_F1;1RECV_F0),1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n"},
};

enum Code : std::size_t { kCells, kCycle, kUnbuffered, kUnmatched, kEarly, kDisorder, kCrossed };

Diagnostic make_finding(Code code, std::string detail) {
  const Page& page = kPages[code];
  return {.code = page.code,
          .severity = page.severity,
          .message = std::string(page.title),
          .detail = std::move(detail),
          .hint = std::string(page.remedy)};
}

/// Returns the location of a cell in the file; no location if the file does not contain it.
Location locate(const program::WrittenSchedule* written, i64 pp_rank,
                const pipeline::Action& wanted) {
  if (written == nullptr) return {};
  const pipeline::Sequence& rank = written->ranks[std::size_t(pp_rank)];
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (rank[i].kind == wanted.kind && rank[i].stage == wanted.stage &&
        rank[i].microbatch == wanted.microbatch)
      return written->where(pp_rank, i64(i));
  return {};
}

/// Returns the transfer at the other end of this send or receive.
pipeline::Action far_end(const pipeline::Action& transfer) {
  const i64 k = boundary(transfer);
  const i64 stage = i64(transfer.stage) == k ? k + 1 : k;
  const bool send = is_send(transfer.kind);
  if (is_activation(transfer.kind))
    return action(send ? pipeline::ActionKind::recv_forward : pipeline::ActionKind::send_forward,
                  stage, transfer.microbatch);
  return action(send ? pipeline::ActionKind::recv_backward : pipeline::ActionKind::send_backward,
                stage, transfer.microbatch);
}

class ProofDescriber {
 public:
  ProofDescriber(const program::Program& program, const program::WrittenSchedule* written)
      : program_(program), written_(written) {}

  Diagnostic describe_cycle(Code code, const std::vector<program::Waiting>& chain) const {
    const bool closed = chain.back().other >= 0;
    const i64 last = chain.back().pp_rank;
    Diagnostic d = make_finding(
        code, !closed ? fmt::format("PP rank {} waits for a message that is never sent", last)
              : chain.size() == 1 ? fmt::format("PP rank {} waits for itself", last)
                                  : fmt::format("{} PP ranks wait for each other in a cycle",
                                                count(i64(chain.size()))));
    constexpr std::size_t kMaxNotes = 16;
    for (std::size_t i = 0; i < std::min(chain.size(), kMaxNotes); ++i)
      d.notes.push_back(describe_wait(chain[i]));
    if (chain.size() > kMaxNotes)
      d.notes.push_back(fmt::format("and so on over {} ranks", chain.size() - kMaxNotes));
    if (closed && code == kCycle) d.hint = propose_move(chain);
    if (closed && code == kUnbuffered) d.hint = propose_batching(chain);
    d.where = locate(written_, chain.front().pp_rank,
                     written_transfers() ? chain.front().action : own_cell(chain.front()));
    return d;
  }

  Diagnostic misplaced(const program::Misplaced& m) const {
    using Why = program::Misplaced::Why;
    const std::string cell = program::show(m.action);
    const auto at = [&](Code code, std::string_view what) {
      Diagnostic d = make_finding(code, fmt::format("PP rank {}: {} {}", m.pp_rank, cell, what));
      d.where = locate(written_, m.pp_rank, m.action);
      return d;
    };
    switch (m.why) {
      case Why::no_receive:
        return at(kUnmatched, "is never received");
      case Why::no_send:
        return at(kUnmatched, "is never sent");
      case Why::twice:
        return at(kUnmatched, "is repeated");
      case Why::early:
        return at(kEarly, "runs before its input");
      case Why::unsent:
        return at(kEarly, "runs before the action whose result it sends");
      case Why::elsewhere:
        return at(kUnmatched, "is received on a rank that does not run that stage");
      case Why::crossed:
        return at(kCrossed,
                  fmt::format("takes message {} from PP rank {}, which sends it as message {}",
                              m.received, sender(m.action), m.sent));
    }
    return at(kEarly, "");
  }

 private:
  bool written_transfers() const { return written_ != nullptr && written_->transfers; }

  i64 sender(const pipeline::Action& receive) const {
    return program_.stage_to_rank.of(far_end(receive).stage, receive.microbatch);
  }

  /// Returns the cell of this rank that a transfer belongs to: the consumer of a receive or the
  /// producer of a send.
  pipeline::Action own_cell(const program::Waiting& w) const {
    const bool forward = is_activation(w.action.kind);
    for (const pipeline::Action& a : program_.roles[std::size_t(w.pp_rank)])
      if (a.stage == w.action.stage && a.microbatch == w.action.microbatch &&
          (forward ? a.kind == pipeline::ActionKind::forward : gives_gradient(a.kind)))
        return a;
    return w.action;
  }

  /// Returns the cell of the other rank that this one waits for.
  pipeline::Action other_cell(const program::Waiting& w) const {
    return own_cell({w.other, -1, far_end(w.action), -1});
  }

  std::string describe_wait(const program::Waiting& w) const {
    const std::string who = fmt::format("PP rank {} waits", w.pp_rank);
    const std::string whom =
        w.other < 0 ? std::string("nobody") : fmt::format("PP rank {}", w.other);
    if (w.action.kind == pipeline::ActionKind::step) {
      const program::Step& step = program_.steps[std::size_t(w.pp_rank)][w.action.microbatch];
      return fmt::format("{} in {} over {} for {}", who, row(step.kind).label, name(step.group),
                         whom);
    }
    const std::string cell =
        written_transfers() ? program::show(w.action) : program::show(own_cell(w));
    const std::string_view what = is_activation(w.action.kind) ? "activation" : "gradient";
    if (w.other < 0)
      return fmt::format("{} at {}: the other end of this {} does not exist", who, cell, what);
    const std::string made = program::show(other_cell(w));
    if (is_send(w.action.kind))
      return fmt::format("{} {} {}: {} has not come to receive the {} for {}", who,
                         written_transfers() ? "at" : "behind", cell, whom, what, made);
    return fmt::format("{} {} {}: it needs the {} of {} from {}", who,
                       written_transfers() ? "at" : "before", cell, what, made, whom);
  }

  /// Proposes that a rank of the cycle runs and sends first what the rank before it waits for.
  std::string propose_move(const std::vector<program::Waiting>& chain) const {
    const program::Waiting& last = chain.back();
    const program::Waiting& first = chain.front();
    if (last.action.kind == pipeline::ActionKind::step ||
        first.action.kind == pipeline::ActionKind::step)
      return std::string(kPages[kDisorder].remedy);
    const pipeline::Action made = other_cell(last);
    if (!written_transfers())
      return fmt::format("on PP rank {} put {} before {}", first.pp_rank, program::show(made),
                         program::show(own_cell(first)));
    const pipeline::Sequence& role = program_.roles[std::size_t(first.pp_rank)];
    const bool behind = std::find(role.begin() + first.position, role.end(), made) != role.end();
    return fmt::format("on PP rank {} put {}{} before {}", first.pp_rank,
                       behind ? program::show(made) + "," : "", program::show(far_end(last.action)),
                       program::show(first.action));
  }

  /// Proposes to post a blocked send together with the transfer that the rank before it waits for.
  /// Some rank of the cycle waits at a send, because with buffered sends there is no cycle.
  std::string propose_batching(const std::vector<program::Waiting>& chain) const {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const program::Waiting& before = chain[(i == 0 ? chain.size() : i) - 1];
      if (is_send(chain[i].action.kind) && before.action.kind != pipeline::ActionKind::step)
        return fmt::format("on PP rank {} post together: ({};{})", chain[i].pp_rank,
                           program::show(chain[i].action), program::show(far_end(before.action)));
    }
    return std::string(kPages[kUnbuffered].remedy);
  }

  const program::Program& program_;
  const program::WrittenSchedule* written_;
};

std::string describe_call(const std::optional<program::Step>& step) {
  if (!step) return "calls nothing";
  return fmt::format("calls {} of {}", row(step->kind).label, show(step->bytes));
}

Diagnostic describe_mismatch(const program::CollectiveMismatch& d) {
  return make_finding(
      kDisorder,
      fmt::format("call {} over {}: PP rank {} {}, PP rank {} {}", d.index + 1, name(d.group),
                  d.one, describe_call(d.of_one), d.other, describe_call(d.of_other)));
}

Diagnostic describe_cell_fault(const program::CellFault& fault,
                               const program::WrittenSchedule& written) {
  using Why = program::CellFault::Why;
  const std::string cell = program::show(fault.cell);
  if (fault.why == Why::missing) return make_finding(kCells, fmt::format("{} is missing", cell));
  constexpr std::string_view kWords[] = {"", "is repeated on", "ran forward on another rank than",
                                         "duplicates a whole backward (B) on"};
  Diagnostic d = make_finding(
      kCells, fmt::format("{} {} PP rank {}", cell, kWords[std::size_t(fault.why)], fault.pp_rank));
  d.where = written.where(fault.pp_rank, fault.position);
  return d;
}

/// Appends a finding for each of the first 100 faults; the last one says how many more there are. A
/// schedule file can contain arbitrarily many wrong cells.
template <class Fault, class Describe>
void append_first(Diagnostics& all, const std::vector<Fault>& faults, const Describe& describe) {
  constexpr std::size_t kMaxFindings = 100;
  for (std::size_t i = 0; i < std::min(faults.size(), kMaxFindings); ++i)
    all.push_back(describe(faults[i]));
  if (faults.size() > kMaxFindings)
    all.back().notes.push_back(
        fmt::format("{} more not listed", count(i64(faults.size() - kMaxFindings))));
}

}  // namespace

std::span<const Page> proof_pages() { return kPages; }

Diagnostics proof_findings(const program::Program& program, const program::Proof& proof,
                           const program::WrittenSchedule* written) {
  const ProofDescriber describer(program, written);
  Diagnostics all;
  append_first(all, proof.misplaced,
               [&](const program::Misplaced& m) { return describer.misplaced(m); });
  if (proof.mismatch) all.push_back(describe_mismatch(*proof.mismatch));
  // A rank that waits for a missing cell is already reported as such.
  const auto is_reported = [&](const std::vector<program::Waiting>& chain) {
    return chain.empty() || (chain.back().other < 0 && !all.empty());
  };
  if (!is_reported(proof.buffered))
    all.push_back(describer.describe_cycle(kCycle, proof.buffered));
  else if (proof.buffered.empty() && !is_reported(proof.rendezvous))
    all.push_back(describer.describe_cycle(kUnbuffered, proof.rendezvous));
  return all;
}

std::optional<ProvedPlan> prove_plan(const plan::TrainingConfig& config) {
  if (config.plan.pp == 1) return std::nullopt;
  const std::optional<i64> cells = pipeline::cell_count(make_pipeline_shape(config));
  if (!cells || *cells > cost::kMaxSimulatedCells ||
      program::bound_expansion_bytes(config) > program::kMaxExpansion)
    return std::nullopt;
  const program::Program program = program::expand(config);
  const program::Proof proof = prove(program);
  return ProvedPlan{proof.actions, proof_findings(program, proof, nullptr)};
}

CheckedSchedule check_schedule(const program::WrittenSchedule& written) {
  const program::CellSet set = program::inspect_cells(written.ranks);
  CheckedSchedule out{
      .pp = i64(written.ranks.size()), .stages = set.stages, .microbatches = set.microbatches};
  append_first(out.findings, set.faults, [&](const program::CellFault& fault) {
    return describe_cell_fault(fault, written);
  });
  if (!set.faults.empty()) return out;
  program::Program program;
  if (written.transfers)
    program = {.stages = set.stages,
               .microbatches = set.microbatches,
               .roles = written.ranks,
               .stage_to_rank = program::StageToRank(written.ranks, set.stages, set.microbatches)};
  else
    program = program::add_transfers(written.ranks, set.stages, set.microbatches);
  const program::Proof proof = prove(program);
  out.actions = proof.actions;
  out.findings = proof_findings(program, proof, &written);
  return out;
}

}  // namespace rankwright::rules
