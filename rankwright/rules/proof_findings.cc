#include "rankwright/rules/proof_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/program/expand.h"
#include "rankwright/program/schedule.h"
#include "rankwright/program/transfers.h"

namespace rankwright {
namespace {

constexpr Severity kError = Severity::error;

// The order is that of the enumeration below.
constexpr Page kPages[] = {
    {"RW0421", kError, "cells are missing, doubled or on the wrong rank",
     "Every stage takes every microbatch forward once and backward once (B, or I and W), and a "
     "microbatch goes back where it went forward. A rank that misses a cell leaves its neighbours "
     "waiting; one that runs it twice counts its gradient twice.",
     "Add, remove or move the cell that is named.", "", "0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n"},
    {"RW0422", kError, "the pipeline waits for itself",
     "Each rank runs its cells in the order written. Here some of them wait for each other in a "
     "circle: none can go on, however fast they are and however many messages are buffered. The "
     "job hangs until a watchdog kills it.",
     "Move a cell that another rank waits for in front of the cell at which its own rank waits.",
     "", "0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n"},
    {"RW0423", kError, "the pipeline waits for itself unless sends are buffered",
     "A blocking send returns when the other side receives. Two ranks that send to each other "
     "before they receive both wait. With small messages the library's buffers hide it; with large "
     "ones, or with NCCL, which has none, the job hangs.",
     "Post the send and the receive together, as one batch.",
     "MPI 4.1, section 3.5, on programs that rely on buffering",
     "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
     "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"},
    {"RW0424", kError, "a send without its receive, or a receive without its send",
     "Every message has one sender and one receiver. An end that stands alone waits for ever, or "
     "takes the next message and shifts all that follow.",
     "Write the other end, or remove this one.", "",
     "0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"},
    {"RW0425", kError, "a cell or a send stands before what it needs",
     "On its own rank the cell comes before its input was received or computed, or the send before "
     "the cell whose result it sends: it would use what is left over in the buffer.",
     "Move it behind what it needs.", "", "0B0,0F0\n"},
    {"RW0426", kError, "members of a group call their collectives in different orders",
     "Collectives are matched by the order in which each member calls them. Where one calls "
     "another, or none, the group hangs or mixes data.",
     "Call them in one order on all members.", "NCCL user guide, group calls", ""},
};

enum Code : std::size_t { kCells, kCycle, kUnbuffered, kAlone, kEarly, kDisorder };

Diagnostic finding(Code code, std::string detail) {
  const Page& page = kPages[code];
  return {.code = page.code,
          .severity = page.severity,
          .message = std::string(page.title),
          .detail = std::move(detail),
          .hint = std::string(page.remedy)};
}

/// Where a cell stands in the file; the whole file where it does not.
Location place(const WrittenSchedule* written, i64 pp_rank, const Action& wanted) {
  if (written == nullptr) return {};
  const Sequence& rank = written->ranks[std::size_t(pp_rank)];
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (rank[i].kind() == wanted.kind() && rank[i].stage == wanted.stage &&
        rank[i].microbatch == wanted.microbatch)
      return written->where[std::size_t(pp_rank)][i];
  return {};
}

class Words {
 public:
  Words(const Program& program, const WrittenSchedule* written)
      : program_(program), written_(written) {}

  Diagnostic circle(Code code, const std::vector<Waiting>& chain) const {
    const bool closed = chain.back().other >= 0;
    const i64 ranks = i64(chain.size());
    Diagnostic d = finding(
        code, closed ? fmt::format("{} wait for each other in a circle",
                                   plural(ranks, "pp rank", "pp ranks"))
                     : fmt::format("pp rank {} waits for what never comes", chain.back().pp_rank));
    constexpr std::size_t kMostNotes = 16;
    for (std::size_t i = 0; i < std::min(chain.size(), kMostNotes); ++i)
      d.notes.push_back(waits(chain[i]));
    if (chain.size() > kMostNotes)
      d.notes.push_back(fmt::format("and so on over {} ranks", chain.size() - kMostNotes));
    if (closed && code == kCycle) d.hint = remedy(chain);
    if (closed && code == kUnbuffered) d.hint = batch(chain.front());
    d.where = place(written_, chain.front().pp_rank,
                    written_transfers() ? chain.front().action : own(chain.front()));
    return d;
  }

  Diagnostic misplaced(const Misplaced& m) const {
    using Why = Misplaced::Why;
    const std::string cell = show(m.action);
    const auto at = [&](Code code, std::string_view what) {
      Diagnostic d = finding(code, fmt::format("pp rank {}: {} {}", m.pp_rank, cell, what));
      d.where = place(written_, m.pp_rank, m.action);
      return d;
    };
    switch (m.why) {
      case Why::no_receive:
        return at(kAlone, "is received nowhere");
      case Why::no_send:
        return at(kAlone, "is sent nowhere");
      case Why::twice:
        return at(kAlone, "stands a second time");
      case Why::early:
        return at(kEarly, "stands before its input");
      case Why::unsent:
        return at(kEarly, "stands before the cell whose result it sends");
      case Why::elsewhere:
        return at(kAlone, "is received on a rank that does not run that stage");
    }
    return at(kEarly, "");
  }

 private:
  bool written_transfers() const { return written_ != nullptr && written_->transfers; }

  /// The cell of this rank that a transfer belongs to: what needs the receive or made the send.
  Action own(const Waiting& w) const {
    const bool forward = is_activation(w.action.kind());
    for (const Action& a : program_.roles[std::size_t(w.pp_rank)])
      if (a.stage == w.action.stage && a.microbatch == w.action.microbatch &&
          (forward ? a.kind() == ActionKind::forward : gives_gradient(a.kind())))
        return a;
    return w.action;
  }

  /// The cell of the other rank that it waits for.
  Action other(const Waiting& w) const {
    const i64 k = boundary(w.action);
    Waiting there = w;
    there.pp_rank = w.other;
    there.action.stage = std::uint16_t(i64(w.action.stage) == k ? k + 1 : k);
    return own(there);
  }

  std::string waits(const Waiting& w) const {
    const std::string who = fmt::format("pp rank {} waits", w.pp_rank);
    const std::string whom =
        w.other < 0 ? std::string("nobody") : fmt::format("pp rank {}", w.other);
    if (w.action.kind() == ActionKind::step) {
      const Step& step = program_.steps[std::size_t(w.pp_rank)][w.action.microbatch];
      return fmt::format("{} in {} over {} for {}", who, row(step.kind).label, name(step.group),
                         whom);
    }
    const std::string cell = written_transfers() ? show(w.action) : show(own(w));
    const std::string_view what = is_activation(w.action.kind()) ? "activation" : "gradient";
    if (w.other < 0)
      return fmt::format("{} at {}: the other end of this {} does not exist", who, cell, what);
    const std::string made = show(other(w));
    if (is_send(w.action.kind()))
      return fmt::format("{} {} {}: {} has not come to receive the {} for {}", who,
                         written_transfers() ? "at" : "behind", cell, whom, what, made);
    return fmt::format("{} {} {}: it needs the {} of {} from {}", who,
                       written_transfers() ? "at" : "before", cell, what, made, whom);
  }

  /// Somebody in the circle could run what the one before waits for first.
  std::string remedy(const std::vector<Waiting>& chain) const {
    const Waiting& last = chain.back();
    const Waiting& first = chain.front();
    if (last.action.kind() == ActionKind::step || first.action.kind() == ActionKind::step)
      return std::string(kPages[kDisorder].remedy);
    return fmt::format("on pp rank {} put {} before {}", first.pp_rank, show(other(last)),
                       show(own(first)));
  }

  /// The send at which a rank waits, with the receive that it comes to too late.
  std::string batch(const Waiting& first) const {
    const Sequence& role = program_.roles[std::size_t(first.pp_rank)];
    for (std::size_t i = std::size_t(first.position); i < role.size(); ++i)
      if (is_transfer(role[i].kind()) && !is_send(role[i].kind()))
        return fmt::format("post them together: ({};{})", show(first.action), show(role[i]));
    return std::string(kPages[kUnbuffered].remedy);
  }

  const Program& program_;
  const WrittenSchedule* written_;
};

std::string call(const std::optional<Step>& step) {
  if (!step) return "calls nothing";
  return fmt::format("calls {} of {}", row(step->kind).label, show(step->bytes));
}

Diagnostic disorder(const Disorder& d) {
  return finding(kDisorder,
                 fmt::format("call {} over {}: pp rank {} {}, pp rank {} {}", d.index + 1,
                             name(d.group), d.one, call(d.of_one), d.other, call(d.of_other)));
}

Diagnostic cell_finding(const CellFault& fault, const WrittenSchedule& written) {
  using Why = CellFault::Why;
  const std::string cell = show(fault.cell);
  if (fault.why == Why::missing) return finding(kCells, fmt::format("{} stands nowhere", cell));
  constexpr std::string_view kWords[] = {"", "stands a second time on",
                                         "went forward on another rank than",
                                         "stands beside a whole backward (B) on"};
  Diagnostic d = finding(
      kCells, fmt::format("{} {} pp rank {}", cell, kWords[std::size_t(fault.why)], fault.pp_rank));
  d.where = written.where[std::size_t(fault.pp_rank)][std::size_t(fault.position)];
  return d;
}

}  // namespace

std::span<const Page> proof_pages() { return kPages; }

Diagnostics proof_findings(const Program& program, const Proof& proof,
                           const WrittenSchedule* written) {
  const Words words(program, written);
  Diagnostics all;
  for (const Misplaced& m : proof.misplaced) all.push_back(words.misplaced(m));
  if (proof.disorder) all.push_back(disorder(*proof.disorder));
  // A rank that waits for what is missing is said already.
  const auto said = [&](const std::vector<Waiting>& chain) {
    return chain.empty() || (chain.back().other < 0 && !all.empty());
  };
  if (!said(proof.buffered))
    all.push_back(words.circle(kCycle, proof.buffered));
  else if (proof.buffered.empty() && !said(proof.rendezvous))
    all.push_back(words.circle(kUnbuffered, proof.rendezvous));
  return all;
}

std::optional<ProvedPlan> prove_plan(const Setup& setup) {
  if (setup.plan.pp == 1) return std::nullopt;
  const std::optional<i64> cells = cell_count(pipeline_shape(setup));
  if (!cells || *cells > kMostProvedCells || expansion_bytes(setup) > kMaxExpansion)
    return std::nullopt;
  const Program program = expand(setup);
  const Proof proof = prove(program);
  return ProvedPlan{proof.actions, proof_findings(program, proof, nullptr)};
}

CheckedSchedule check_schedule(const WrittenSchedule& written) {
  const CellSet set = cell_set(written.ranks);
  CheckedSchedule out{
      .pp = i64(written.ranks.size()), .stages = set.stages, .microbatches = set.microbatches};
  for (const CellFault& fault : set.faults) out.findings.push_back(cell_finding(fault, written));
  if (!set.faults.empty()) return out;
  Program program;
  if (written.transfers)
    program = {.stages = set.stages,
               .microbatches = set.microbatches,
               .roles = written.ranks,
               .owners = Owners(written.ranks, set.stages, set.microbatches)};
  else
    program = with_transfers(written.ranks, set.stages, set.microbatches);
  const Proof proof = prove(program);
  out.actions = proof.actions;
  out.findings = proof_findings(program, proof, &written);
  return out;
}

}  // namespace rankwright
