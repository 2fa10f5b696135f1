#include "rankwright/cost/estimate.h"

#include <algorithm>
#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/rates.h"
#include "rankwright/plan/run_calibration.h"
#include "rankwright/program/schedule.h"

namespace rankwright {
namespace {

/// Whether a run of the same model on the same device moved the constants.
bool calibrated(const Setup& setup) {
  return setup.calibrated && setup.calibrated->model == setup.model &&
         setup.calibrated->device == setup.cluster.device;
}

ErrorBand published_band(const Setup& setup) {
  if (!fitted_generation(setup.cluster.device)) return {bands().unmeasured.within, 0};
  const BandRow& row = setup.model.sparse() ? bands().sparse : bands().dense;
  return {row.within, row.rows};
}

/// X13: what plans of one model on one device have in common a run of one of them takes off: left
/// is how far two are off against each other, where that is less.
ErrorBand step_band(const Setup& setup) {
  const ErrorBand published = published_band(setup);
  if (!calibrated(setup)) return published;
  const BandRow& row = setup.model.sparse() ? bands().pair_most_sparse : bands().pair_most;
  if (row.within >= published.within) return published;
  return {row.within, published.rows == 0 ? 0 : row.rows};
}

}  // namespace

bool Estimate::sure() const { return std::abs(memory.total() / capacity - 1) > memory_band.within; }

namespace {

Estimate with_step(const Setup& setup, const Calibration& calibration, const StepTime& step) {
  return {.step = step,
          .memory = fullest(setup, calibration),
          .capacity = setup.cluster.device.memory,
          .step_band = step_band(setup),
          .memory_band = {bands().memory.within, bands().memory.rows}};
}

}  // namespace

Estimate estimate(const Setup& setup, const Calibration& calibration) {
  return with_step(setup, calibration, step_time(setup, calibration));
}

Estimate played_estimate(const Setup& setup, const Calibration& calibration) {
  const Links links(setup, calibration);
  const LayerPrices prices = layer_prices(setup, links, calibration);
  const StagePrices staged = stage_prices(setup, calibration, prices);
  return with_step(setup, calibration,
                   step_time(setup, calibration, links, prices, staged, played_end(setup, staged)));
}

Estimate close_estimate(const Setup& setup, const Calibration& calibration) {
  const std::optional<i64> cells = cell_count(pipeline_shape(setup));
  return cells && *cells <= kMostPlayedCells ? played_estimate(setup, calibration)
                                             : estimate(setup, calibration);
}

double mfu(const Setup& setup, Seconds step, FlopsConvention convention) {
  const double tokens = double(setup.job.global_batch) * double(setup.job.sequence);
  const Flops work = tokens * training_flops_per_token(setup.model, setup.job.sequence, convention);
  const FlopsPerSecond most = double(setup.world) * layer_peak(setup);
  if (most.value <= 0 || step.value <= 0) return 0;
  return work / step / most;
}

double tokens_per_second(const Setup& setup, Seconds step) {
  if (step.value <= 0) return 0;
  return double(setup.job.global_batch) * double(setup.job.sequence) / step.value /
         double(setup.world);
}

bool paired(const Setup& a, const Setup& b) {
  return fitted_generation(a.cluster.device) && a.cluster.device == b.cluster.device &&
         a.model == b.model;
}

double tie_band(const Setup& a, const Setup& b) {
  if (!paired(a, b)) return std::max(step_band(a).within, step_band(b).within);
  return (a.model.sparse() ? bands().pair_sparse : bands().pair).within;
}

double tie_band(const Setup& plan) {
  return (plan.model.sparse() ? bands().pair_sparse : bands().pair).within;
}

}  // namespace rankwright
