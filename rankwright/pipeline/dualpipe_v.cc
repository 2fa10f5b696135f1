// DualPipeV: DualPipe folded at its middle, with two chunks per rank in a V shape and without the
// second copy of the parameters.
#include "rankwright/pipeline/dualpipe_common.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences dualpipe_v(const PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r)
    ranks.push_back(dualpipe_common(shape.pp, r, shape.microbatches, {.stage = r, .first = 0},
                                    {.stage = 2 * shape.pp - 1 - r, .first = 0}));
  return ranks;
}

}  // namespace rankwright::pipeline
