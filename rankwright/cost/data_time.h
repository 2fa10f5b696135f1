// The time that data parallelism and ZeRO add to a step: gradient reduction and weight gathering,
// split into exposed and overlapped time. Computed for one pp rank, the one with the most
// parameters. Formulas X6 and X7.
#pragma once

#include "rankwright/cost/layer_time.h"
#include "rankwright/cost/links.h"
#include "rankwright/plan/data_calls.h"

namespace rankwright::cost {

/// The parameters and layers of one pp rank, over all its chunks, and its time per microbatch.
struct RankWork {
  Seconds forward{}, backward{};
  Seconds sends{};  // to other pp ranks, exposed or not; not part of forward and backward
  plan::Share share{};
  plan::Share trained{};  // what has gradients; under LoRA the adapters
  i64 layers = 0;

  /// Adds a stage of which this rank runs `part` of the microbatches.
  void add(const RankWork& stage, double part) {
    forward += part * stage.forward;
    backward += part * stage.backward;
    share += stage.share;
    trained += stage.trained;
    layers += stage.layers;
  }
};

/// Estimates the communication of gradients and parameters in one step on a pp rank.
CommTime estimate_data_time(const plan::TrainingConfig& config, const RankWork& on,
                            const plan::DataShape& shape, const Links& links,
                            const cluster::Calibration& calibration);

/// Communication times of one microbatch under ZeRO-3.
struct ZeroWaits {
  Seconds forward{}, backward{};  // exposed time per pass
  // Exposed time once per step: of the first unit's gather, and of the last unit's reduction. FSDP
  // in a pipeline adds the gather of the first backward, and reduces all units at the end.
  Seconds gathered{}, scattered{};
};

/// Estimates the ZeRO-3 communication of one microbatch on a pp rank.
ZeroWaits estimate_zero3_waits(const plan::TrainingConfig& config, const RankWork& on,
                               const plan::DataShape& shape, const Links& links,
                               const cluster::Calibration& calibration);

}  // namespace rankwright::cost
