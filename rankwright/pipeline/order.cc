#include "rankwright/pipeline/order.h"

#include <algorithm>
#include <functional>

#include "rankwright/base/check.h"

namespace rankwright::pipeline {

Sequences cells(const PipelineShape& shape) {
  RW_CHECK(!find_shape_fault(shape));
  // Without a pipeline, a rank runs one microbatch after the other.
  if (shape.stages() == 1) return row(Schedule::one_f_one_b).order(shape);
  return row(shape.schedule).order(shape);
}

i64 max_in_flight(const PipelineShape& shape, i64 pp_rank) {
  if (shape.stages() == 1) return 1;
  return std::min(shape.chunks * shape.microbatches, row(shape.schedule).in_flight(shape, pp_rank));
}

double max_held(const PipelineShape& shape, i64 pp_rank, std::span<const double> weights) {
  if (shape.stages() == 1) return weights[0];
  const bool alike =
      std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end();
  if (alike) return double(max_in_flight(shape, pp_rank)) * weights[0];
  return row(shape.schedule).held(shape, pp_rank, weights);
}

std::optional<i64> cell_count(const PipelineShape& shape) {
  const i64 each = row(shape.schedule).splits_backward ? 3 : 2;
  return product({shape.pp, shape.chunks, shape.microbatches, each});
}

}  // namespace rankwright::pipeline
