#include "rankwright/fit/level_fit.h"

#include <algorithm>
#include <cmath>

#include "rankwright/base/check.h"
#include "rankwright/cost/collective.h"

namespace rankwright::fit {
namespace {

// The search is a grid of both logarithms that closes in on its best point. It shrinks by less than
// the grid's step, because in a narrow valley the best point lies beside the best of the grid.
constexpr int kSide = 9, kGridRounds = 30;
constexpr double kShrink = 0.6;
constexpr double kMinRate = 1e3, kMaxRate = 1e14;         // bytes a second
constexpr double kMinLatency = 1e-9, kMaxLatency = 1e+1;  // seconds

double squares(const cluster::Cluster& cluster, std::span<const SpannedSeries> series,
               const cluster::Calibration& calibration) {
  double sum = 0;
  for (const SpannedSeries& one : series)
    for (const MeasuredCall& call : one.calls) {
      const double error = std::log(
          cost::collective_time(one.op, call.size, one.span, cluster, calibration) / call.time);
      sum += error * error;
    }
  return sum;
}

/// The logarithm of a figure, and how far from it the search looks.
struct Looked {
  double centre, reach;

  Looked(double min, double max)
      : centre((std::log(min) + std::log(max)) / 2), reach((std::log(max) - std::log(min)) / 2) {}
  double at(int i) const { return std::exp(centre + reach * (2.0 * i / (kSide - 1) - 1)); }
};

}  // namespace

double four_digits(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::round(value / unit) * unit;
}

void fit_level(cluster::Cluster& cluster, std::size_t level, std::span<const SpannedSeries> series,
               const cluster::Calibration& calibration) {
  RW_CHECK(level < cluster.levels.size());
  cluster::Level& found = cluster.levels[level];
  Looked rate(kMinRate, kMaxRate), wait(kMinLatency, kMaxLatency);
  for (int round = 0; round < kGridRounds; ++round) {
    double best = -1, best_rate = 0, best_wait = 0;
    for (int i = 0; i < kSide; ++i)
      for (int k = 0; k < kSide; ++k) {
        found.bandwidth = {rate.at(i)};
        found.latency = {wait.at(k)};
        const double error = squares(cluster, series, calibration);
        if (best >= 0 && error >= best) continue;
        best = error;
        best_rate = found.bandwidth.value;
        best_wait = found.latency.value;
      }
    rate.centre = std::log(best_rate);
    wait.centre = std::log(best_wait);
    rate.reach *= kShrink;
    wait.reach *= kShrink;
  }
  found.bandwidth = {four_digits(std::exp(rate.centre))};
  found.latency = {four_digits(std::exp(wait.centre))};
  found.origin = found.latency_origin = cluster::Origin::measured;
}

}  // namespace rankwright::fit
