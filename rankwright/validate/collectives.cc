#include "rankwright/validate/collectives.h"

#include <algorithm>
#include <cmath>

#include "rankwright/catalog/catalog.h"

namespace rankwright::validate {
namespace {

constexpr Bytes kLarge = 1.0_MB;
constexpr Bytes kHuge = 64.0_MB;

/// The weight of the priors relative to the error of rows, and the steps of the search, as factors.
constexpr double kPriorWeight = 0.003;
constexpr double kSteps[] = {1.3, 1.1, 1.03, 1.01};
constexpr int kSweeps = 12;

bool in_class(Bytes size, SizeClass c) {
  switch (c) {
    case SizeClass::small:
      return size < kLarge;
    case SizeClass::large:
      return size >= kLarge;
    case SizeClass::huge:
      return size >= kHuge;
  }
  return false;
}

constexpr double kMinLatency = 0.1, kMaxLatency = 4, kFirstLatency = 0.5;

using Settings = std::vector<CollectiveSetting>;

Settings with_latency(Settings settings, double factor) {
  for (CollectiveSetting& setting : settings)
    for (cluster::Level& level : setting.cluster.levels)
      if (level.latency_origin == cluster::Origin::calibrated)
        level.latency = factor * level.latency;
  return settings;
}

cost::CollectiveCost cost(const Settings& settings, const MeasuredCollective& row,
                          const cluster::Calibration& constants) {
  const CollectiveSetting& setting = settings[row.setting];
  return cost::estimate_collective_cost(row.op, row.size, setting.span, setting.cluster, constants);
}

/// The objective of a fit.
class CollectiveLoss {
 public:
  CollectiveLoss(const MeasuredCollectives& measured, std::string_view without)
      : measured_(measured) {
    for (std::size_t i = 0; i < measured.rows.size(); ++i) {
      const std::string& system = measured.rows[i].system;
      if (system == without) continue;
      const auto at = std::find(measured.systems.begin(), measured.systems.end(), system);
      rows_.push_back({i, std::size_t(at - measured.systems.begin())});
      for (const cluster::Level& level : measured.settings[measured.rows[i].setting].cluster.levels)
        calibrated_ = calibrated_ || level.latency_origin == cluster::Origin::calibrated;
    }
  }

  /// Returns whether a row uses a level whose latency can be fitted.
  bool calibrated() const { return calibrated_; }

  double operator()(const CollectiveFit& fit) const {
    const cluster::Calibration& constants = fit.constants;
    const Settings settings = with_latency(measured_.settings, fit.latency);
    std::vector<double> sums(measured_.systems.size()), counts(measured_.systems.size());
    double all = 0;
    for (const auto& [row, system] : rows_) {
      const MeasuredCollective& m = measured_.rows[row];
      const Seconds predicted = cost(settings, m, constants).time + m.harness;
      const double off = std::abs(std::log(predicted / m.time));
      sums[system] += off;
      counts[system] += 1;
      all += off;
    }
    double means = 0, systems = 0;
    for (std::size_t s = 0; s < sums.size(); ++s) {
      if (counts[s] == 0) continue;
      means += sums[s] / counts[s];
      systems += 1;
    }
    if (systems == 0) return prior_loss(constants);
    return (all / double(rows_.size()) + means / systems) / 2 + prior_loss(constants);
  }

 private:
  static double prior_loss(const cluster::Calibration& constants) {
    double sum = 0;
    for (const cluster::Constant c : kCollectiveConstants) {
      const catalog::ConstantRow& row = rankwright::catalog::constants()[std::size_t(c)];
      const double away = std::log(constants[c] / row.prior) / row.spread;
      sum += away * away;
    }
    return kPriorWeight * sum;
  }

  struct Row {
    std::size_t row, system;
  };
  const MeasuredCollectives& measured_;
  std::vector<Row> rows_;
  bool calibrated_ = false;
};

/// Computes the errors by size class, of one system or, if `system` is empty, of all.
ErrorTable tabulate_errors(const CollectiveScore& score, std::string_view system,
                           double CollectivePrediction::*error) {
  ErrorTable all;
  for (std::size_t c = 0; c < kSizeClasses; ++c) {
    std::vector<double> errors;
    for (const CollectivePrediction& p : score.predictions) {
      const MeasuredCollective& row = score.measured.rows[p.row];
      if (!system.empty() && row.system != system) continue;
      if (in_class(row.size, SizeClass(c))) errors.push_back(p.*error);
    }
    all[c] = compute_error_stats(std::move(errors));
  }
  return all;
}

}  // namespace

std::string_view name(SizeClass c) {
  constexpr std::string_view kNames[] = {"< 1 MB", ">= 1 MB", ">= 64 MB"};
  return kNames[std::size_t(c)];
}

CollectiveFit fit_collectives(const MeasuredCollectives& measured,
                              const cluster::Calibration& start, std::string_view without) {
  const CollectiveLoss loss(measured, without);
  CollectiveFit best{.constants = start};
  for (const cluster::Constant c : kCollectiveConstants)
    best.constants[c] = catalog::constants()[std::size_t(c)].prior;
  if (loss.calibrated()) best.latency = kFirstLatency;
  double min = loss(best);
  const auto better = [&](const CollectiveFit& next) {
    const double value = loss(next);
    if (value >= min - 1e-9) return false;
    min = value;
    best = next;
    return true;
  };
  // Coordinate descent with ever finer steps: there are few constants, and the loss is nearly
  // convex in their logarithms.
  for (const double step : kSteps) {
    bool moved = true;
    for (int sweep = 0; sweep < kSweeps && moved; ++sweep) {
      moved = false;
      for (const double factor : {step, 1 / step}) {
        for (const cluster::Constant c : kCollectiveConstants) {
          const catalog::ConstantRow& row = catalog::constants()[std::size_t(c)];
          CollectiveFit next = best;
          next.constants[c] = std::clamp(best.constants[c] * factor, row.low, row.high);
          moved = better(next) || moved;
        }
        if (!loss.calibrated()) continue;
        CollectiveFit next = best;
        next.latency = std::clamp(best.latency * factor, kMinLatency, kMaxLatency);
        moved = better(next) || moved;
      }
    }
  }
  return best;
}

CollectiveScore score_collectives(MeasuredCollectives measured, const cluster::Calibration& given) {
  CollectiveScore score;
  score.measured = std::move(measured);
  score.given = given;
  score.fitted = fit_collectives(score.measured, given);
  for (std::size_t i = 0; i < score.measured.rows.size(); ++i) {
    const MeasuredCollective& row = score.measured.rows[i];
    const cost::CollectiveCost each = cost(score.measured.settings, row, given);
    const Seconds predicted = each.time + row.harness;
    score.predictions.push_back({.row = i,
                                 .predicted = predicted,
                                 .algorithm = each.algorithm,
                                 .error = predicted / row.time - 1});
  }
  const bool several = score.measured.systems.size() > 1;
  for (const std::string& system : score.measured.systems) {
    if (several) {
      const CollectiveFit others = fit_collectives(score.measured, given, system);
      const Settings settings = with_latency(score.measured.settings, others.latency);
      for (CollectivePrediction& p : score.predictions) {
        const MeasuredCollective& row = score.measured.rows[p.row];
        if (row.system != system) continue;
        p.held_out = cost(settings, row, others.constants).time + row.harness;
        p.error_held_out = p.held_out / row.time - 1;
      }
    }
    score.systems.push_back({.system = system,
                             .given = tabulate_errors(score, system, &CollectivePrediction::error),
                             .held_out = {}});
    if (several)
      score.systems.back().held_out =
          tabulate_errors(score, system, &CollectivePrediction::error_held_out);
  }
  score.total = tabulate_errors(score, {}, &CollectivePrediction::error);
  if (several)
    score.total_held_out = tabulate_errors(score, {}, &CollectivePrediction::error_held_out);
  return score;
}

}  // namespace rankwright::validate
