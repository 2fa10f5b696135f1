#include "rankwright/validate/gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "rankwright/base/format.h"

namespace rankwright::validate {
namespace {

constexpr double kMaxFactor = 64;      // a larger factor explains nothing
constexpr double kTimerShare = 0.001;  // timers off by this fraction of a step weigh as much as a
                                       // suspect at its plausible limit
constexpr int kGapHalvings = 60;
constexpr double kNearlyFull = 0.97;  // of the device: the allocator starts to free cached memory

/// A measured run and the prediction it is compared with.
struct Measurement {
  const plan::TrainingConfig& config;
  const cluster::Calibration& calibration;
  const importer::RunLog& log;
  const importer::MeasuredStep& measured;
  TrialPrediction base;

  bool slower() const { return measured.median > base.step; }
  Trial trial() const { return {config, calibration}; }
};

/// Returns the root of the sum of squares of the errors of the log's timers, as a fraction of the
/// step (V9).
double timer_residual(const Measurement& a, const TrialPrediction& predicted_step) {
  double squares = 0;
  const auto add = [&](Seconds measured, Seconds predicted) {
    const double error = (measured - predicted) / a.measured.median;
    squares += error * error;
  };
  for (const importer::RunTimer& timer : a.log.timers) {
    for (const TimerPrediction& predicted : predicted_step.timers) {
      if (predicted.name != timer.name) continue;
      const importer::TimerSample measured = timer.median();
      add(measured.max, predicted.time.max);
      if (measured.both && predicted.time.both) add(measured.min, predicted.time.min);
    }
  }
  return std::sqrt(squares);
}

/// Returns the item that differs most between two steps.
cost::Item find_largest_change(const cost::StepTime& before, const cost::StepTime& after) {
  cost::Item max = cost::Item::matmul;
  double apart = -1;
  for (const cost::ItemRow& of : cost::items()) {
    // These are fractions of all other items and change with them.
    if (of.item == cost::Item::jitter || of.item == cost::Item::untuned) continue;
    const double by = std::abs((after[of.item] - before[of.item]).value);
    if (by > apart) apart = by, max = of.item;
  }
  return max;
}

TrialPrediction predict_with(const Measurement& a, const Suspect& suspect, double factor) {
  Trial trial = a.trial();
  suspect.grow(trial, factor, suspect.level);
  return predict_trial(trial);
}

/// Finds the factor with which the suspect alone explains the step, by bisection of its logarithm
/// (V8).
std::optional<double> find_factor(const Measurement& a, const Suspect& suspect) {
  const bool slower = a.slower();
  if (!slower && suspect.faster <= 1) return std::nullopt;
  const double max = slower ? kMaxFactor : 1 / kMaxFactor;
  const auto enough = [&](double factor) {
    const Seconds step = predict_with(a, suspect, factor).step;
    return slower ? step >= a.measured.median : step <= a.measured.median;
  };
  if (!enough(max)) return std::nullopt;
  double low = 0, high = std::log(max);
  for (int i = 0; i < kGapHalvings; ++i) {
    const double middle = (low + high) / 2;
    (enough(std::exp(middle)) ? high : low) = middle;
  }
  return std::exp(high);
}

std::optional<Explanation> explain_by_suspect(const Measurement& a, const Suspect& suspect) {
  const std::optional<double> factor = find_factor(a, suspect);
  if (!factor) return std::nullopt;
  const TrialPrediction predicted = predict_with(a, suspect, *factor);
  const cost::Item item = find_largest_change(a.base.items, predicted.items);
  const double plausible = a.slower() ? suspect.slower : suspect.faster;
  return Explanation{
      .name = suspect.name,
      .item = item,
      .before = a.base.items[item],
      .after = predicted.items[item],
      .factor = *factor,
      .plausible = plausible,
      .implausibility = std::abs(std::log(*factor)) / std::log(plausible),
      .timer_residual = timer_residual(a, predicted),
      .evidence = {},
      .reason = suspect.reason,
      .suggestion = suspect.suggestion,
  };
}

/// A cause outside the cost model that the log itself points to.
struct Outside {
  std::string name, evidence, suggestion;
  std::string_view reason;
  double implausibility;
  bool loading = false;
};

Explanation explain_by_outside(const Measurement& a, const Outside& what) {
  Trial trial = a.trial();
  trial.outside = a.measured.median - a.base.step;
  if (what.loading) trial.loading = trial.outside;
  return {.name = what.name,
          .item = cost::Item::jitter,
          .before = {},
          .after = trial.outside,
          .implausibility = what.implausibility,
          .timer_residual = timer_residual(a, predict_trial(trial)),
          .evidence = what.evidence,
          .reason = what.reason,
          .suggestion = what.suggestion};
}

std::vector<Explanation> find_outside(const Measurement& a, const cost::ErrorBand& band) {
  std::vector<Explanation> all;
  if (!a.slower()) return all;
  const Seconds median = a.measured.median, low = a.measured.low;
  const bool quick = low <= (1 + band.within) * a.base.step && low < 0.95 * median;
  for (const importer::RunTimer& timer : a.log.timers)
    if (timer.name == "batch-generator" && timer.median().max > 0.02 * median)
      all.push_back(explain_by_outside(
          a, {"data loading",
              fmt::format("the batch-generator timer shows {} per step", show(timer.median().max)),
              "more loader workers, prefetching, data on local disks",
              "a late batch stops all ranks", 0.3, true}));
  if (quick)
    all.push_back(explain_by_outside(
        a, {"stalls between steps",
            fmt::format("the fastest 5 % of the steps take at most {}, near the prediction",
                        show(low)),
            "data loading, checkpoints, evaluation, garbage collection: compare the slow steps",
            "some steps are as fast as predicted, so something outside the model slows the others",
            0.3}));
  if (a.log.retries > 0)
    all.push_back(explain_by_outside(
        a, {"allocator retries",
            fmt::format("the log counts {}", plural(a.log.retries, "retry", "retries")),
            "free memory (see memory); PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            "a full allocator frees memory and waits for the GPU", 0.4}));
  for (const auto& [rank, peak] : a.log.peaks)
    if (a.log.retries == 0 && peak.reserved >= kNearlyFull * a.config.cluster.device.memory) {
      all.push_back(explain_by_outside(
          a, {"allocator retries",
              fmt::format("rank {} holds {}, nearly all of its memory", rank,
                          show_memory(peak.reserved)),
              "free memory (see memory); PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
              "a full allocator frees memory and waits for the GPU", 0.9}));
      break;
    }
  return all;
}

/// Returns the recomputation policies, other than the plan's, that alone explain the step.
std::vector<Explanation> explain_by_recompute(const Measurement& a) {
  constexpr double kSame = 0.02;
  std::vector<Explanation> all;
  for (const plan::Recompute what :
       {plan::Recompute::none, plan::Recompute::selective, plan::Recompute::full}) {
    if (what == a.config.plan.recompute) continue;
    Trial trial = a.trial();
    trial.config.plan.recompute = what;
    trial.config.plan.recompute_layers = 0;
    const TrialPrediction predicted = predict_trial(trial);
    const double off = std::abs(predicted.step / a.measured.median - 1);
    if (off > kSame) continue;
    all.push_back(
        {.name = fmt::format("recompute: {}", name(what)),
         .item = cost::Item::recompute,
         .before = a.base.items[cost::Item::recompute],
         .after = predicted.items[cost::Item::recompute],
         .implausibility = 0.5 + off / kSame,
         .timer_residual = timer_residual(a, predicted),
         .evidence = fmt::format("predicted step with it: {}", show(predicted.step)),
         .reason = "a flag that the plan does not have",
         .suggestion = "the run's recomputation flags, and parallelism.recompute in the plan"});
  }
  return all;
}

std::vector<TimerGap> find_timer_gaps(const Measurement& a) {
  std::vector<TimerGap> all;
  for (const TimerPrediction& predicted : a.base.timers)
    for (const importer::RunTimer& timer : a.log.timers)
      if (timer.name == predicted.name)
        all.push_back({timer.name, predicted.entries, timer.median(), predicted.time});
  return all;
}

}  // namespace

double Explanation::score() const {
  // Beyond the plausible limit, implausibility counts fourfold.
  return (implausibility <= 1 ? implausibility : 1 + 4 * (implausibility - 1)) +
         timer_residual / kTimerShare;
}

TimeGap explain_time_gap(const plan::TrainingConfig& config,
                         const cluster::Calibration& calibration, const importer::RunLog& log,
                         const importer::MeasuredStep& measured) {
  const Measurement measurement{config, calibration, log, measured,
                                predict_trial({config, calibration})};
  TimeGap gap{.measured = measured, .predicted = cost::estimate_closely(config, calibration)};
  gap.timers = find_timer_gaps(measurement);
  for (const Suspect& suspect : find_suspects(config))
    if (std::optional<Explanation> found = explain_by_suspect(measurement, suspect))
      gap.explanations.push_back(std::move(*found));
  for (std::vector<Explanation> more :
       {explain_by_recompute(measurement), find_outside(measurement, gap.predicted.step_band)})
    gap.explanations.insert(gap.explanations.end(), more.begin(), more.end());
  std::stable_sort(
      gap.explanations.begin(), gap.explanations.end(),
      [](const Explanation& a, const Explanation& b) { return a.score() < b.score(); });
  return gap;
}

}  // namespace rankwright::validate
