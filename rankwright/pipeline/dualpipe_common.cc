// Shared by DualPipe and DualPipeV (DeepSeek-V3 report and DeepSeek's DualPipe code): two streams
// of microbatches meet on a rank. In the steady state, the forward of one runs together with the
// backward of the other, so that the communication of each overlaps the computation of both.
#include <algorithm>

#include "rankwright/pipeline/shared_orders.h"

namespace rankwright::pipeline {

RunList dualpipe_runs(i64 ranks, i64 rank, i64 microbatches) {
  static constexpr Pattern kNear("F0"), kBoth("F0 F1"), kFar("I1 W1 F1"), kApart("F0 B1 F1&B0"),
      kSteady("F0&B1 F1&B0"), kThin("B1 F1&B0"), kBackward("B1 B0"), kMiddle("B1 I0"),
      kInputs("I1 I0"), kNearLate("W0 I0"), kBothLate("W1 I0 W0 I0"), kFarLate("W1 I0"),
      kNearWeight("W0"), kWeights("W1 W0");
  const i64 tail = rank + 1;       // ranks from where the streams enter up to this one
  const i64 below = ranks - tail;  // ranks after this one up to the turning point
  const i64 apart = below == 0 ? 1 : 0;
  // The weight gradients of the last `tail` backwards are deferred. They come in turn, and the last
  // of them is near: if tail is odd, so is the first. Then follow those of near inputs alone.
  const i64 half = tail / 2, odd = tail % 2;
  const i64 near_first = std::min(odd, below);                 // before a near input
  const i64 in_turn = std::min(2 * half, below - near_first);  // the same, far and near in turn
  return {
      {&kNear, 2 * below},
      {&kBoth, tail},
      {&kFar, below},
      {&kApart, apart},  // at the turning point, separate cells shorten the bubble
      {&kSteady, microbatches - 2 * ranks + tail - apart},
      {&kThin, below},
      {&kBackward, half},
      {&kMiddle, odd},
      {&kInputs, half},
      {&kNearLate, near_first},
      {&kBothLate, in_turn / 2},
      {&kFarLate, in_turn % 2},
      {&kNearLate, std::max<i64>(0, below - tail)},
      {&kNearWeight, odd - near_first + in_turn % 2},
      {&kWeights, half - (in_turn + 1) / 2},
      {&kNearWeight, std::min(below, tail)},
  };
}

}  // namespace rankwright::pipeline
