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

/// Lower bounds of one reduction of all gradients of a pp rank, and of one gather of all its
/// weights.
struct MinSync {
  Seconds reduced{}, gathered{};
};

/// Bounds the reduction and the gather of a pp rank that has at least `min` of the `all` parameters
/// of the model, however they are divided into calls and stages (X19). 0 if some weights are
/// frozen.
MinSync min_sync(const plan::TrainingConfig& config, const plan::Share& min, const plan::Share& all,
                 const Links& links);

/// A lower bound of the exposed data traffic of a step (X19), as a function of the time of the
/// pipeline: the longer that is, the more it hides.
struct MinDataTime {
  Seconds always{};    // exposed whatever runs beside it
  Seconds windowed{};  // overlaps one microbatch; a fraction `shown` of it is exposed nevertheless
  double shown = 0;
  double window = 0;  // the part of the pipeline's time that overlaps it
  Seconds spread{};  // overlaps the whole pipeline; a fraction `not_slowed` of what is longer shows
  double not_slowed = 0;

  /// Returns the exposed time beside a pipeline that takes `pipeline`.
  Seconds exposed(Seconds pipeline) const;
};
MinDataTime min_data_time(const plan::TrainingConfig& config, const MinSync& sync,
                          const cluster::Calibration& calibration);

}  // namespace rankwright::cost
