// What data parallelism and ZeRO add to a step: gradients that are reduced, weights that are
// gathered, and how much of both the computation beside them hides. Of one pp rank, the one that
// holds most. Formulas X6 and X7.
#pragma once

#include "rankwright/cost/links.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// What stands on a pp rank, over its chunks, and what one microbatch takes there.
struct RankWork {
  Seconds forward{}, backward{};
  plan::Share share{};
  i64 layers = 0;

  void add(const RankWork& stage, double part) {
    forward += part * stage.forward;
    backward += part * stage.backward;
    share += stage.share;
    layers += stage.layers;
  }
};

struct DataTime {
  Seconds shown{};   // that the step waits for
  Seconds hidden{};  // beside computation
};
DataTime data_time(const plan::TrainingConfig& config, const RankWork& on, const Links& links,
                   const cluster::Calibration& calibration);

/// Of one microbatch under ZeRO-3.
struct ZeroWaits {
  Seconds forward{}, backward{};    // that show
  Seconds gathered{}, scattered{};  // one unit's weights, and its gradients
  Seconds all{};                    // of the microbatch, hidden or not
};
ZeroWaits zero3_waits(const plan::TrainingConfig& config, const RankWork& on, const Links& links,
                      const cluster::Calibration& calibration);

}  // namespace rankwright::cost
