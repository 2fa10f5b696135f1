// An Estimate predicts the cost of a plan: the step time as a waterfall of items and the memory of
// its fullest rank by entry. Each has an error band that contains nine of ten published runs,
// predicted with constants fitted without their publication. report/ formats the numbers. Formulas
// X1 to X10.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/memory/verdict.h"
#include "rankwright/cost/step.h"
#include "rankwright/model/flops.h"

namespace rankwright::cost {

/// An error band: for nine of ten runs, predicted / measured - 1 is within +-`within`.
struct ErrorBand {
  double within = 0;
  i64 rows = 0;  // measured runs it is based on; 0: assumed
};

/// The predicted step time and memory of one plan.
struct Estimate {
  StepTime step{};
  MemoryEstimate memory{};  // of the pp rank with the largest total
  Bytes capacity{};         // memory of one device
  ErrorBand step_band{}, memory_band{};

  Seconds time() const { return step.total(); }
  MemoryVerdict verdict() const {
    return judge_memory(memory.total(), capacity, memory_band.within);
  }
  bool fits() const { return cost::fits(verdict()); }
  /// Returns whether fits() holds, or fails, for every error within the band.
  bool sure() const { return cost::sure(verdict()); }
};

/// Returns the error band of memory estimates: of dense models, of models with experts, or of
/// models that run operation by operation as Hugging Face's do.
ErrorBand get_memory_band(const plan::TrainingConfig& config);

/// Returns the verdict on a rank that needs `memory` on the device of `config`.
MemoryVerdict judge_memory(const MemoryEstimate& memory, const plan::TrainingConfig& config);

/// Estimates a plan in closed form. Requires: the config has no constraint violation.
Estimate estimate_plan(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

/// Estimates a plan with a simulated pipeline in place of the closed form. The run time grows with
/// the number of microbatches.
Estimate estimate_by_simulation(const plan::TrainingConfig& config,
                                const cluster::Calibration& calibration);

/// Estimates a single plan as accurately as is affordable: simulated if its pipeline has at most
/// kMaxSimulatedCells cells, which takes a fraction of a second, else in closed form.
inline constexpr i64 kMaxSimulatedCells = 1'000'000;
Estimate estimate_closely(const plan::TrainingConfig& config,
                          const cluster::Calibration& calibration);

/// The simulated ends of pipelines, each simulated once, because many plans differ only outside
/// their pipeline. Thread-safe.
class PipelineEnds {
 public:
  /// Returns simulate_pipeline_end().
  Seconds find(const plan::TrainingConfig& config, const StageCosts& staged);
  /// Returns the number of different pipelines so far.
  i64 size() const { return i64(known_.size()); }

 private:
  std::mutex mutex_{};
  std::map<std::vector<double>, Seconds> known_{};  // by shape and times
};

/// As estimate_closely(); nothing if a lower bound shows that the step takes longer than `than`.
std::optional<Estimate> estimate_faster(const plan::TrainingConfig& config,
                                        const cluster::Calibration& calibration, PipelineEnds& ends,
                                        Seconds than);

/// Computes the model FLOPs utilization: model FLOPs over the peak FLOPs of all devices in `step`,
/// in the format of the job's matmuls. The default convention, Megatron-LM's, counts causal
/// attention half (F1). Recomputation is not counted.
double mfu(const plan::TrainingConfig& config, Seconds step,
           model::FlopsConvention convention = model::FlopsConvention::megatron_causal);

/// Computes the tokens per second and device.
double tokens_per_second(const plan::TrainingConfig& config, Seconds step);

/// Returns whether published runs determine the relative error of two such plans: they have the
/// same model on the same device, whose generation has fitted constants.
bool paired(const plan::TrainingConfig& a, const plan::TrainingConfig& b);

/// Returns the relative difference, as a fraction of the shorter time, up to which two plans are a
/// tie (X12). Errors of two plans of one model on one device are correlated, so for these it is the
/// median relative error of published pairs (V7): half of the pairs are off by more, so a smaller
/// difference does not decide which plan is faster. For other pairs only the error of each plan is
/// known, and the wider of the two bands is used.
double find_tie_band(const plan::TrainingConfig& a, const plan::TrainingConfig& b);

/// Returns the tie band of a plan against others with its model and device, as in a search. It is
/// the pair band also on devices without measurements: their absolute error is unknown, but it is
/// the same for all plans.
double find_tie_band(const plan::TrainingConfig& plan);

/// Returns the relative difference up to which a plan near a published run ties with a faster one
/// of the same model and device that is not (X14): the error of an estimate that no published run
/// is near.
double find_far_band(const plan::TrainingConfig& plan);

}  // namespace rankwright::cost
