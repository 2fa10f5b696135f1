#include "rankwright/planner/timeline/event_kind.h"

namespace rankwright::planner {

EventKind classify_event(const program::Program& program, i64 pp_rank, const pipeline::Action& a) {
  if (is_cell(a.kind)) return EventKind(a.kind);
  const program::Step& step = program.steps[std::size_t(pp_rank)][a.microbatch];
  return step.computes() ? EventKind::optimizer : EventKind::collective;
}

}  // namespace rankwright::planner
