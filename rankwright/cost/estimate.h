// An Estimate is what a plan costs: the time of a step as a waterfall of items, and the memory of
// its fullest rank as a ledger of entries, each with the band in which nine of ten published runs
// lie that were predicted without having seen their publication. Numbers only: how they are said
// and drawn is report/. Formulas X1 to X10.
#pragma once

#include <string_view>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/model/flops.h"

namespace rankwright::cost {

/// Predicted / measured - 1 stays within +-`within` for nine of ten.
struct ErrorBand {
  double within = 0;
  i64 rows = 0;  // measured runs that say so; 0: assumed
};

struct Estimate {
  StepTime step{};
  MemoryEstimate memory{};  // of the fullest pp rank
  Bytes capacity{};
  ErrorBand step_band{}, memory_band{};

  Seconds time() const { return step.total(); }
  bool fits() const { return memory.total() <= capacity; }
  /// It fits, or does not, whatever the error within the band.
  bool sure() const;
};

/// The config has no violation.
Estimate estimate(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

/// The same with the bubble of the pipeline as it is simulated, not by closed form: its cost grows
/// with microbatches.
Estimate simulated_estimate(const plan::TrainingConfig& config,
                            const cluster::Calibration& calibration);

/// Estimates one plan for people: its pipeline is simulated where it has at most
/// kMaxSimulatedCells, which takes a fraction of a second, else by closed form.
inline constexpr i64 kMaxSimulatedCells = 1'000'000;
Estimate close_estimate(const plan::TrainingConfig& config,
                        const cluster::Calibration& calibration);

/// Model FLOPs over what the devices could do in that time, in the format of the job's matmuls; as
/// Megatron-LM counts attention is halved (F1). Recompute does not count.
double mfu(const plan::TrainingConfig& config, Seconds step,
           model::FlopsConvention convention = model::FlopsConvention::megatron_causal);
double tokens_per_second(const plan::TrainingConfig& config, Seconds step);  // and device

/// Whether published runs say how far two such plans are off against each other: of one model on
/// one device of a generation that constants were fitted on.
bool paired(const plan::TrainingConfig& a, const plan::TrainingConfig& b);

/// X12: two plans whose times differ by no more than this share of the shorter are a tie. Errors of
/// two plans of one model on one device have much in common, so for these it is the median of how
/// far published pairs are off against each other (V7): half of them are off by more, so which of
/// two plans that are closer is faster is not decided. Of other pairs nothing is known but the
/// error of each: the wider of their bands.
double tie_band(const plan::TrainingConfig& a, const plan::TrainingConfig& b);
/// With others of its model and device, those of a search: the pair band on devices too that
/// nothing was measured on. Of those it is not known how far off a step is, but that is the same
/// for all.
double tie_band(const plan::TrainingConfig& plan);

}  // namespace rankwright::cost
