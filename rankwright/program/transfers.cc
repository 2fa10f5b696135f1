#include "rankwright/program/transfers.h"

#include "rankwright/program/owners.h"

namespace rankwright {
namespace {

/// Runs the ranks in turn, one cell each, and writes down what they do.
class Placer {
 public:
  Placer(const Sequences& cells, i64 stages, i64 microbatches)
      : cells_(cells),
        stages_(stages),
        microbatches_(microbatches),
        owners_(cells, stages, microbatches),
        state_(owners_.size(), 0),
        next_(cells.size(), 0),
        roles_(cells.size()) {
    for (std::size_t r = 0; r < cells.size(); ++r) {
      left_ += i64(cells[r].size());
      // A cell takes and gives at most one message. What stays unused is never touched.
      roles_[r].reserve(3 * cells[r].size());
    }
  }

  Program run() {
    for (std::size_t r = 0; r < cells_.size(); ++r) steps(r);
    while (left_ > 0) {
      bool moved = false;
      for (std::size_t r = 0; r < cells_.size(); ++r) {
        if (next_[r] == cells_[r].size() || !ready(r)) continue;
        emit(r);
        steps(r);
        moved = true;
      }
      // Every rank waits for another: the order of cells has a cycle. Its first member receives
      // where it stands, so that a Program comes out and the proof can name the cycle.
      if (!moved && left_ > 0) force();
    }
    return {.stages = stages_,
            .microbatches = microbatches_,
            .roles = std::move(roles_),
            .owners = std::move(owners_)};
  }

 private:
  enum Flag : std::uint8_t { kForward = 1, kGradient = 2, kHasInput = 4, kHasGradient = 8 };

  std::uint8_t& state(i64 stage, i64 microbatch) {
    return state_[owners_.index(stage, microbatch)];
  }

  bool ready(const Action& a) {
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind() == ActionKind::forward)
      return s == 0 || ((state(s - 1, m) & kForward) != 0) || ((state(s, m) & kHasInput) != 0);
    if (gives_gradient(a.kind()))
      return s == stages_ - 1 || ((state(s + 1, m) & kGradient) != 0) ||
             ((state(s, m) & kHasGradient) != 0);
    return true;
  }

  bool ready(std::size_t r) {
    std::size_t i = next_[r];
    for (; cells_[r][i].joined != 0; ++i)
      if (!ready(cells_[r][i])) return false;
    return ready(cells_[r][i]);
  }

  /// A role's own steps wait for nobody here: they stand right behind the cell before them and what
  /// it sends, ahead of receives that other ranks bring about later.
  void steps(std::size_t r) {
    const std::size_t first = next_[r];
    while (next_[r] < cells_[r].size() && cells_[r][next_[r]].kind() == ActionKind::step)
      roles_[r].push_back(cells_[r][next_[r]++]);
    left_ -= i64(next_[r] - first);
  }

  void emit(std::size_t r) {
    const std::size_t first = next_[r];
    do roles_[r].push_back(cells_[r][next_[r]]);
    while (cells_[r][next_[r]++].joined != 0);
    for (std::size_t i = first; i < next_[r]; ++i) hand_on(r, cells_[r][i]);
    left_ -= i64(next_[r] - first);
  }

  void hand_on(std::size_t r, const Action& a) {
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind() == ActionKind::forward) {
      state(s, m) |= kForward;
      if (s + 1 < stages_)
        transfer(r, ActionKind::send_forward, s, ActionKind::recv_forward, s + 1, m, kHasInput);
    } else if (gives_gradient(a.kind())) {
      state(s, m) |= kGradient;
      if (s > 0)
        transfer(r, ActionKind::send_backward, s, ActionKind::recv_backward, s - 1, m,
                 kHasGradient);
    }
  }

  void transfer(std::size_t r, ActionKind send, i64 from, ActionKind recv, i64 to, i64 m,
                Flag has) {
    const i64 other = owners_.of(to, m);
    if (other == i64(r) || other == Owners::kNobody) return;
    post(r, action(send, from, m));
    if ((state(to, m) & has) == 0) post(std::size_t(other), action(recv, to, m));
    state(to, m) |= has;
  }

  void post(std::size_t r, Action transfer) {
    Sequence& role = roles_[r];
    if (!role.empty() && is_transfer(role.back().kind())) role.back().joined = 1;
    role.push_back(transfer);
  }

  void force() {
    for (std::size_t r = 0; r < cells_.size(); ++r) {
      if (next_[r] == cells_[r].size()) continue;
      for (std::size_t i = next_[r];; ++i) {
        const Action& a = cells_[r][i];
        if (!ready(a)) receive_here(r, a);
        if (a.joined == 0) return;
      }
    }
  }

  void receive_here(std::size_t r, const Action& a) {
    const bool forward = a.kind() == ActionKind::forward;
    const i64 from = forward ? i64(a.stage) - 1 : i64(a.stage) + 1;
    state(a.stage, a.microbatch) |= forward ? kHasInput : kHasGradient;
    if (owners_.of(from, a.microbatch) != i64(r))
      post(r, action(forward ? ActionKind::recv_forward : ActionKind::recv_backward, a.stage,
                     a.microbatch));
  }

  const Sequences& cells_;
  i64 stages_;
  i64 microbatches_;
  Owners owners_;
  std::vector<std::uint8_t> state_;
  std::vector<std::size_t> next_;
  Sequences roles_;
  i64 left_ = 0;
};

}  // namespace

Program with_transfers(const Sequences& cells, i64 stages, i64 microbatches) {
  return Placer(cells, stages, microbatches).run();
}

}  // namespace rankwright
