// An Action is one operation of a pp rank: a cell of the schedule (forward, backward, input
// gradient or weight gradient of one stage and microbatch), a send or receive across a stage
// boundary, or a step of its own (a collective, the optimizer). It takes eight bytes because a long
// training step has fifty million. Message sizes are in bodies and steps; times are in simulate.h.
#pragma once

#include <cstdint>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::pipeline {

enum class ActionKind : std::uint8_t {
  forward,
  backward,      // input and weight gradient together
  input_grad,    // the previous stage waits for it
  weight_grad,   // no other stage waits for it
  send_forward,  // an activation to the next stage
  recv_forward,
  send_backward,  // a gradient to the previous stage
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
/// Returns whether the cell produces the gradient for the previous stage: B or I.
constexpr bool gives_gradient(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::input_grad;
}
/// Returns whether a transfer carries activations, not gradients.
constexpr bool is_activation(ActionKind kind) {
  return kind == ActionKind::send_forward || kind == ActionKind::recv_forward;
}

/// One operation of a pp rank.
struct Action {
  std::uint32_t microbatch = 0;
  std::uint16_t stage = 0;  // of a transfer the local one: send_forward s pairs recv_forward s + 1
  ActionKind kind = ActionKind::forward;
  std::uint8_t joined = 0;  // to the next action: cells run as one, transfers posted as a batch

  friend constexpr bool operator==(const Action&, const Action&) = default;
};
static_assert(sizeof(Action) == 8);

constexpr Action action(ActionKind kind, i64 stage, i64 microbatch, bool joined = false) {
  return {.microbatch = std::uint32_t(microbatch),
          .stage = std::uint16_t(stage),
          .kind = kind,
          .joined = joined ? std::uint8_t{1} : std::uint8_t{0}};
}

/// Constructors of cells: cell::F(2, 0) is "2F0".
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

/// Returns the boundary that a transfer crosses; boundary k is between stages k and k + 1.
constexpr i64 boundary(const Action& a) {
  const bool below = a.kind == ActionKind::send_forward || a.kind == ActionKind::recv_backward;
  return below ? i64(a.stage) : i64(a.stage) - 1;
}

using Sequence = std::vector<Action>;
using Sequences = std::vector<Sequence>;  // by pp rank

}  // namespace rankwright::pipeline
