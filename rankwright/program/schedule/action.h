// An Action is one thing that a pp rank does: a cell of the schedule (forward, backward, input
// gradient, weight gradient of a stage and a microbatch), a send or a receive of what crosses a
// stage boundary, or a step of its own (a collective, the optimizer). Eight bytes, because a long
// step has fifty million. No times here, and no bytes: those belong to bodies and steps.
#pragma once

#include <cstdint>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::program {

enum class ActionKind : std::uint8_t {
  forward,
  backward,      // input and weight gradient together
  input_grad,    // what the stage before waits for
  weight_grad,   // what nobody waits for
  send_forward,  // an activation to the next stage
  recv_forward,
  send_backward,  // a gradient to the stage before
  recv_backward,
  step,  // one of the role's own steps; `microbatch` is its number
};

constexpr bool is_cell(ActionKind kind) { return kind <= ActionKind::weight_grad; }
constexpr bool is_transfer(ActionKind kind) {
  return kind >= ActionKind::send_forward && kind <= ActionKind::recv_backward;
}
constexpr bool is_send(ActionKind kind) {
  return kind == ActionKind::send_forward || kind == ActionKind::send_backward;
}
/// Sends its gradient on when it is done: B or I.
constexpr bool gives_gradient(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::input_grad;
}
/// Of a transfer: activations, not gradients.
constexpr bool is_activation(ActionKind kind) {
  return kind == ActionKind::send_forward || kind == ActionKind::recv_forward;
}

struct Action {
  std::uint32_t microbatch = 0;
  std::uint16_t stage = 0;  // a transfer's own end: send_forward of s meets recv_forward of s + 1
  ActionKind kind = ActionKind::forward;
  std::uint8_t joined = 0;  // with the next: cells that run as one, transfers posted together

  friend constexpr bool operator==(const Action&, const Action&) = default;
};
static_assert(sizeof(Action) == 8);

constexpr Action action(ActionKind kind, i64 stage, i64 microbatch, bool joined = false) {
  return {.microbatch = std::uint32_t(microbatch),
          .stage = std::uint16_t(stage),
          .kind = kind,
          .joined = joined ? std::uint8_t{1} : std::uint8_t{0}};
}

/// Cells as they are written: cell::F(2, 0) is "2F0".
namespace cell {
constexpr Action F(i64 stage, i64 microbatch) {
  return action(ActionKind::forward, stage, microbatch);
}
constexpr Action B(i64 stage, i64 microbatch) {
  return action(ActionKind::backward, stage, microbatch);
}
constexpr Action I(i64 stage, i64 microbatch) {
  return action(ActionKind::input_grad, stage, microbatch);
}
constexpr Action W(i64 stage, i64 microbatch) {
  return action(ActionKind::weight_grad, stage, microbatch);
}
}  // namespace cell

/// The boundary that a transfer crosses: k lies between stages k and k + 1.
constexpr i64 boundary(const Action& a) {
  const bool below = a.kind == ActionKind::send_forward || a.kind == ActionKind::recv_backward;
  return below ? i64(a.stage) : i64(a.stage) - 1;
}

using Sequence = std::vector<Action>;
using Sequences = std::vector<Sequence>;  // by pp rank

}  // namespace rankwright::program
