#include "rankwright/cost/estimate.h"

#include <algorithm>
#include <limits>

#include "rankwright/catalog/bands.h"
#include "rankwright/cost/bands/layout_distance.h"
#include "rankwright/cost/rates.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/encoder.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/run_calibration.h"

namespace rankwright::cost {
namespace {

/// Returns whether the constants were calibrated with a run of the same model on the same device.
bool calibrated(const plan::TrainingConfig& config) {
  return config.calibrated && config.calibrated->model == config.model &&
         config.calibrated->device == config.cluster.device;
}

ErrorBand published_band(const plan::TrainingConfig& config) {
  const catalog::Bands& bands = catalog::get_bands();
  if (!fitted_generation(config.cluster.device)) return {bands.unmeasured.within, 0};
  if (config.software.hf_modeling) return {bands.fine_tuning.within, bands.fine_tuning.rows};
  const bool near = near_validated(config);
  const catalog::BandRow& row = config.model.sparse() ? (near ? bands.sparse : bands.sparse_far)
                                                      : (near ? bands.dense : bands.dense_far);
  return {row.within, row.rows};
}

/// X13: calibrating with a run removes the error that plans of one model on one device have in
/// common. The error of one plan relative to another remains, if that is smaller.
ErrorBand step_band(const plan::TrainingConfig& config) {
  const ErrorBand published = published_band(config);
  if (!calibrated(config)) return published;
  const catalog::BandRow& row =
      config.model.sparse() ? catalog::get_bands().pair_max_sparse : catalog::get_bands().pair_max;
  if (row.within >= published.within) return published;
  return {row.within, published.rows == 0 ? 0 : row.rows};
}

Estimate with_step(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                   const StepTime& step) {
  return {.step = step,
          .memory = fullest(config, calibration),
          .capacity = config.cluster.device.memory,
          .step_band = step_band(config),
          .memory_band = get_memory_band(config)};
}

/// Returns the FLOPs that backward does not compute for the frozen parts of a model (F8): a third
/// of the matmuls of frozen layers and of a frozen head, two thirds of layers that only run
/// forward. Under LoRA, without that third, which no matrix computes.
Flops count_frozen_flops(const plan::TrainingConfig& config, model::FlopsConvention convention) {
  const auto count = [&](const model::Model& model, i64 sequence) {
    return training_flops_per_token(model, sequence, convention);
  };
  Flops sum;
  if (!config.model.frozen.any()) return sum;
  model::Model none = config.model;
  none.mtp_layers = 0;
  none.runs.clear();
  for (const model::LayerRun& run : config.model.runs) {
    if (run.layer.training == model::Training::full) continue;
    model::Model one = none;
    one.runs = {run};
    const Flops weights = (count(one, 1) - count(none, 1)) / 3;
    const i64 attended = config.job.attended();
    sum += runs_backward(config, run.layer)
               ? weights
               : 2 * (count(one, attended) - count(none, attended)) / 3;
    if (config.job.frozen()) sum = sum - weights;
  }
  if (!trains_head_weight(config) && !config.job.frozen()) sum += head_forward_flops(config.model);
  return sum;
}

/// Returns the model FLOPs of training on one token. Under LoRA the weight gradients of frozen
/// matrices, a third of the matmuls, are not computed (F7).
Flops count_token_flops(const plan::TrainingConfig& config, model::FlopsConvention convention) {
  const Flops all = training_flops_per_token(config.model, config.job.attended(), convention);
  const Flops done = all - count_frozen_flops(config, convention);
  if (!config.job.frozen()) return done;
  return done - training_flops_per_token(config.model, 1, convention) / 3;
}

}  // namespace

ErrorBand get_memory_band(const plan::TrainingConfig& config) {
  const catalog::Bands& bands = catalog::get_bands();
  const catalog::BandRow& row = config.software.hf_modeling ? bands.memory_fine_tuning
                                : config.model.sparse()     ? bands.memory_sparse
                                                            : bands.memory;
  return {row.within, row.rows};
}

MemoryVerdict judge_memory(const MemoryEstimate& memory, const plan::TrainingConfig& config) {
  return judge_memory(memory.total(), config.cluster.device.memory, get_memory_band(config).within);
}

Estimate estimate_plan(const plan::TrainingConfig& config,
                       const cluster::Calibration& calibration) {
  return with_step(config, calibration, estimate_step_time(config, calibration));
}

Estimate estimate_by_simulation(const plan::TrainingConfig& config,
                                const cluster::Calibration& calibration) {
  const Links links(config, calibration);
  const LayerCosts prices = estimate_layer_costs(config, links, calibration);
  const StageCosts staged = estimate_stage_costs(config, calibration, prices);
  return with_step(config, calibration,
                   estimate_step_time(config, calibration, links, prices, staged,
                                      make_heaviest_shape(config, staged),
                                      simulate_pipeline_end(config, staged)));
}

Seconds PipelineEnds::find(const plan::TrainingConfig& config, const StageCosts& staged) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  std::vector<double> key{double(shape.schedule),
                          double(shape.pp),
                          double(shape.chunks),
                          double(shape.microbatches),
                          double(shape.group_size()),
                          staged.busiest.value,
                          staged.hop.value};
  for (const pipeline::StageTimes& stage : staged.stages)
    key.insert(key.end(), {stage.forward.value, stage.input.value, stage.weight.value});
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  const Seconds end = simulate_pipeline_end(config, staged);
  const std::lock_guard lock(mutex_);
  known_.emplace(std::move(key), end);
  return end;
}

std::optional<Estimate> estimate_faster(const plan::TrainingConfig& config,
                                        const cluster::Calibration& calibration, PipelineEnds& ends,
                                        Seconds than) {
  const std::optional<i64> cells = pipeline::cell_count(make_pipeline_shape(config));
  const bool simulates = cells && *cells <= kMaxSimulatedCells;
  const Links links(config, calibration);
  const LayerCosts prices = estimate_layer_costs(config, links, calibration);
  const StageCosts staged = estimate_stage_costs(config, calibration, prices);
  const plan::DataShape shape = make_heaviest_shape(config, staged);
  const auto with = [&](Seconds end) {
    return estimate_step_time(config, calibration, links, prices, staged, shape, end);
  };
  constexpr double rounding = 1e-12;  // of the bound, which is summed in another order
  const Seconds closed = estimate_pipeline_end(config, staged);
  const Seconds soonest = with(simulates ? min_end(config, staged) : closed).total();
  if ((1 - rounding) * soonest > than) return std::nullopt;
  return with_step(config, calibration, with(simulates ? ends.find(config, staged) : closed));
}

Estimate estimate_closely(const plan::TrainingConfig& config,
                          const cluster::Calibration& calibration) {
  PipelineEnds ends;
  constexpr Seconds forever{std::numeric_limits<double>::infinity()};
  return *estimate_faster(config, calibration, ends, forever);
}

double mfu(const plan::TrainingConfig& config, Seconds step, model::FlopsConvention convention) {
  const double tokens = double(config.job.global_batch) * double(config.job.sequence);
  // Forward and, if it is trained, backward of the encoder (F9).
  const Flops encoder = double(config.job.global_batch) * (trains_encoder(config) ? 3 : 1) *
                        count_encoder_flops(config);
  const Flops work = tokens * count_token_flops(config, convention) + encoder;
  const FlopsPerSecond max = double(config.world) * find_layer_peak(config);
  if (max.value <= 0 || step.value <= 0) return 0;
  return work / step / max;
}

double tokens_per_second(const plan::TrainingConfig& config, Seconds step) {
  if (step.value <= 0) return 0;
  return double(config.job.global_batch) * double(config.job.sequence) / step.value /
         double(config.world);
}

bool paired(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  return fitted_generation(a.cluster.device) && a.cluster.device == b.cluster.device &&
         a.model == b.model;
}

double find_tie_band(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  if (!paired(a, b)) return std::max(step_band(a).within, step_band(b).within);
  return (a.model.sparse() ? catalog::get_bands().pair_sparse : catalog::get_bands().pair).within;
}

double find_tie_band(const plan::TrainingConfig& plan) {
  return (plan.model.sparse() ? catalog::get_bands().pair_sparse : catalog::get_bands().pair)
      .within;
}

double find_far_band(const plan::TrainingConfig& plan) {
  return (plan.model.sparse() ? catalog::get_bands().sparse_far : catalog::get_bands().dense_far)
      .within;
}

}  // namespace rankwright::cost
