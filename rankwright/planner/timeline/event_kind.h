// The kinds of work that a timeline distinguishes. report/render/event_color.h has their colors.
#pragma once

#include "rankwright/program/program.h"

namespace rankwright::planner {

/// One kind of work.
enum class EventKind : unsigned char {
  forward,
  backward,
  input_grad,
  weight_grad,
  collective,
  optimizer,
};
inline constexpr std::size_t kEventKinds = 6;

/// Returns the kind of a cell, or of an action outside cells: a collective or the optimizer.
EventKind classify_event(const program::Program& program, i64 pp_rank,
                         const pipeline::Action& action);

constexpr bool is_backward(EventKind kind) {
  return kind >= EventKind::backward && kind <= EventKind::weight_grad;
}

}  // namespace rankwright::planner
