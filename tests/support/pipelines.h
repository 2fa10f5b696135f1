// Pipelines of every schedule for tests, by enumeration and at random.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "rankwright/pipeline/order.h"
#include "rankwright/pipeline/schedule.h"
#include "rankwright/program/cells.h"
#include "rankwright/program/transfers.h"

namespace rankwright::pipelines {

/// Makes a random shape, often one that no schedule supports.
inline pipeline::PipelineShape any_shape(i64 max_pp = 8, i64 max_microbatches = 40) {
  pipeline::PipelineShape shape;
  shape.schedule =
      pipeline::schedules()[*rc::gen::inRange<std::size_t>(0, pipeline::kSchedules)].schedule;
  shape.pp = *rc::gen::inRange<i64>(1, max_pp + 1);
  shape.chunks = *rc::gen::inRange<i64>(1, 5);
  shape.microbatches = *rc::gen::inRange<i64>(1, max_microbatches + 1);
  shape.group = *rc::gen::element<i64>(0, 0, shape.pp, shape.pp + 1, 2 * shape.pp, 1);
  return shape;
}

inline pipeline::PipelineShape valid_shape() {
  pipeline::PipelineShape shape = any_shape();
  const pipeline::ScheduleRow& r = row(shape.schedule);
  shape.chunks = std::min(std::max(shape.chunks, r.min_chunks), r.max_chunks);
  shape.pp *= r.multiple;
  shape.microbatches = shape.microbatches * r.multiple + r.rounds * shape.pp;
  if (find_shape_fault(shape)) shape.group = 0;
  RC_ASSERT(!find_shape_fault(shape));
  return shape;
}

inline program::Program program_of(const pipeline::PipelineShape& shape) {
  return program::add_transfers(pipeline::cells(shape), shape.stages(), shape.microbatches);
}

/// Formats a shape: "zb-v pp 4 x 2, 8 microbatches, group 0".
inline std::string show(const pipeline::PipelineShape& s) {
  return std::string(name(s.schedule)) + " pp " + std::to_string(s.pp) + " x " +
         std::to_string(s.chunks) + ", " + std::to_string(s.microbatches) +
         " microbatches, group " + std::to_string(s.group);
}

/// Visits every shape up to these sizes, with the default group.
template <class Visit>
void for_every_shape(i64 max_pp, i64 max_chunks, i64 max_microbatches, const Visit& visit) {
  for (const pipeline::ScheduleRow& r : pipeline::schedules())
    for (i64 pp = 1; pp <= max_pp; ++pp)
      for (i64 chunks = 1; chunks <= max_chunks; ++chunks)
        for (i64 m = 1; m <= max_microbatches; ++m)
          visit(pipeline::PipelineShape{r.schedule, pp, chunks, m});
}

}  // namespace rankwright::pipelines
