// DualPipe (DeepSeek-V3 report): every stage is on two ranks, and half of the microbatches enter at
// each end. It holds the parameters twice and halves the bubble.
#include <algorithm>

#include "rankwright/pipeline/dualpipe_common.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::pipeline {

Sequences dualpipe(const PipelineShape& shape) {
  const i64 pp = shape.pp;
  const i64 half = shape.microbatches / 2;
  Sequences ranks;
  for (i64 r = 0; r < pp; ++r) {
    const Stream down{.stage = r, .first = 0};
    const Stream up{.stage = pp - 1 - r, .first = half};
    const bool first_half = r < pp / 2;
    ranks.push_back(dualpipe_common(pp / 2, std::min(r, pp - 1 - r), half, first_half ? down : up,
                                    first_half ? up : down));
  }
  return ranks;
}

}  // namespace rankwright::pipeline
