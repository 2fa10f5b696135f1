// DualPipeV: DualPipe folded at its middle, with two chunks per rank in a V shape and without the
// second copy of the parameters.
#include "rankwright/program/schedule/dualpipe_common.h"
#include "rankwright/program/schedule/schedule.h"

namespace rankwright::program {

Sequences dualpipe_v(const plan::PipelineShape& shape) {
  Sequences ranks;
  for (i64 r = 0; r < shape.pp; ++r)
    ranks.push_back(dualpipe_common(shape.pp, r, shape.microbatches, {.stage = r, .first = 0},
                                    {.stage = 2 * shape.pp - 1 - r, .first = 0}));
  return ranks;
}

}  // namespace rankwright::program
