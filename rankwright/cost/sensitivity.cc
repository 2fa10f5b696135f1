#include "rankwright/cost/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace rankwright::cost {
namespace {

constexpr double kFittedRange = 0.1;  // relative change of a fitted constant
constexpr double kMinChange = 1e-9;   // smaller relative changes count as none

/// Estimates the plan with one value of one constant. The step is that of estimate_closely() times
/// the change of the closed form: a simulation per constant would take long.
ConstantTrial try_value(const plan::TrainingConfig& config, cluster::Calibration c,
                        cluster::Constant constant, double value, double closely_over_closed) {
  c[constant] = value;
  const Estimate e = estimate_plan(config, c);
  return {value, closely_over_closed * e.time(), e.memory.total(), e.verdict()};
}

/// Computes the time per token of the second plan relative to the first, minus 1.
double find_lead(const plan::TrainingConfig& first, const plan::TrainingConfig& second,
                 const cluster::Calibration& c) {
  const auto tokens = [](const plan::TrainingConfig& s) {
    return double(s.job.global_batch) * double(s.job.sequence);
  };
  const Seconds one = estimate_step_time(first, c).total() / tokens(first);
  const Seconds two = estimate_step_time(second, c).total() / tokens(second);
  return two / one - 1;
}

/// Returns whether a constant is known for this machine: on a probed CPU, some constants are
/// measured, and the catalog's bands do not apply.
bool is_measured(const plan::TrainingConfig& config, cluster::Constant constant) {
  const std::span<const catalog::ProbedConstant> rows = catalog::probed_constants();
  return config.cluster.device.cpu() &&
         std::any_of(rows.begin(), rows.end(),
                     [&](const catalog::ProbedConstant& row) { return row.constant == constant; });
}

}  // namespace

Bounds find_bounds(const catalog::ConstantRow& row) {
  if (row.found != catalog::Found::fitted) return {row.low, row.high};
  return {std::max(row.low, (1 - kFittedRange) * row.value),
          std::min(row.high, (1 + kFittedRange) * row.value)};
}

std::vector<Sensitivity> find_sensitivities(const plan::TrainingConfig& config,
                                            const cluster::Calibration& calibration) {
  const Estimate now = estimate_closely(config, calibration);
  const double ratio = now.time() / estimate_step_time(config, calibration).total();
  std::vector<Sensitivity> all;
  for (const catalog::ConstantRow& row : catalog::constants()) {
    if (is_measured(config, row.constant)) continue;
    const Bounds bounds = find_bounds(row);
    Sensitivity s{.constant = row.constant,
                  .low = try_value(config, calibration, row.constant, bounds.low, ratio),
                  .high = try_value(config, calibration, row.constant, bounds.high, ratio)};
    const auto moved = [&](const ConstantTrial& o) { return std::abs(o.step / now.time() - 1); };
    const auto fills = [&](const ConstantTrial& o) {
      return std::abs(o.memory / now.memory.total() - 1) > kMinChange;
    };
    s.moves = std::max(moved(s.low), moved(s.high));
    s.flips = s.low.verdict != now.verdict() || s.high.verdict != now.verdict();
    if (s.moves > kMinChange || fills(s.low) || fills(s.high)) all.push_back(s);
  }
  std::stable_sort(all.begin(), all.end());
  return all;
}

Comparison compare(const plan::TrainingConfig& first, const plan::TrainingConfig& second,
                   const cluster::Calibration& calibration) {
  Comparison c{.lead = find_lead(first, second, calibration)};
  for (const catalog::ConstantRow& row : catalog::constants()) {
    if (is_measured(first, row.constant)) continue;
    const Bounds bounds = find_bounds(row);
    const auto at = [&](double value) {
      cluster::Calibration moved = calibration;
      moved[row.constant] = value;
      return find_lead(first, second, moved);
    };
    Rivalry r{.constant = row.constant, .low = bounds.low, .high = bounds.high};
    r.at_low = at(r.low);
    r.at_high = at(r.high);
    if (std::abs(r.at_low - c.lead) < kMinChange && std::abs(r.at_high - c.lead) < kMinChange)
      continue;
    const auto other = [&](double lead) { return (lead > 0) != (c.lead > 0); };
    r.swaps = other(r.at_low) || other(r.at_high);
    c.rivals.push_back(r);
  }
  const auto width = [&](const Rivalry& r) {
    return std::max(std::abs(r.at_low - c.lead), std::abs(r.at_high - c.lead));
  };
  std::stable_sort(c.rivals.begin(), c.rivals.end(), [&](const Rivalry& a, const Rivalry& b) {
    return a.swaps != b.swaps ? a.swaps : width(a) > width(b);
  });
  return c;
}

}  // namespace rankwright::cost
