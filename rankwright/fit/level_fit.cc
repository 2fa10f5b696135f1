#include "rankwright/fit/level_fit.h"

#include <algorithm>
#include <cmath>

#include "rankwright/base/check.h"
#include "rankwright/cost/collective.h"

namespace rankwright::fit {
namespace {

// Searches on a grid of both logarithms that narrows around its best point. The grid shrinks by
// less than its step, because in a narrow valley the optimum may be next to the best grid point.
constexpr int kSide = 9, kGridRounds = 30;
constexpr double kShrink = 0.6;
constexpr double kMinRate = 1e3, kMaxRate = 1e14;         // bytes per second
constexpr double kMinLatency = 1e-9, kMaxLatency = 1e+1;  // seconds

double sum_squares(const cluster::Cluster& cluster, std::span<const SpannedSeries> series,
                   const cluster::Calibration& calibration) {
  double sum = 0;
  for (const SpannedSeries& one : series)
    for (const MeasuredCall& call : one.calls) {
      const double error = std::log(
          cost::estimate_collective_time(one.op, call.size, one.span, cluster, calibration) /
          call.time);
      sum += error * error;
    }
  return sum;
}

/// The range of one logarithm that the grid covers.
struct LogRange {
  double center, reach;

  LogRange(double min, double max)
      : center((std::log(min) + std::log(max)) / 2), reach((std::log(max) - std::log(min)) / 2) {}
  double at(int i) const { return std::exp(center + reach * (2.0 * i / (kSide - 1) - 1)); }
};

}  // namespace

double round_to_four_digits(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::round(value / unit) * unit;
}

void fit_level(cluster::Cluster& cluster, std::size_t level, std::span<const SpannedSeries> series,
               const cluster::Calibration& calibration) {
  RW_CHECK(level < cluster.levels.size());
  cluster::Level& found = cluster.levels[level];
  LogRange rate(kMinRate, kMaxRate), wait(kMinLatency, kMaxLatency);
  for (int round = 0; round < kGridRounds; ++round) {
    double best = -1, best_rate = 0, best_wait = 0;
    for (int i = 0; i < kSide; ++i)
      for (int k = 0; k < kSide; ++k) {
        found.bandwidth = {rate.at(i)};
        found.latency = {wait.at(k)};
        const double error = sum_squares(cluster, series, calibration);
        if (best >= 0 && error >= best) continue;
        best = error;
        best_rate = found.bandwidth.value;
        best_wait = found.latency.value;
      }
    rate.center = std::log(best_rate);
    wait.center = std::log(best_wait);
    rate.reach *= kShrink;
    wait.reach *= kShrink;
  }
  found.bandwidth = {round_to_four_digits(std::exp(rate.center))};
  found.latency = {round_to_four_digits(std::exp(wait.center))};
  found.origin = found.latency_origin = cluster::Origin::measured;
}

}  // namespace rankwright::fit
