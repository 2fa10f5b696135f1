#include "rankwright/validate/collectives.h"

#include <algorithm>
#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/links.h"

namespace rankwright::validate {
namespace {

constexpr Bytes kLarge = 1.0_MB;
constexpr Bytes kHuge = 64.0_MB;

/// The weight of the priors relative to the error of rows, and the steps of the search, as factors.
constexpr double kPriorWeight = 0.003;
constexpr double kSteps[] = {1.3, 1.1, 1.03, 1.01};
constexpr int kSweeps = 12;

constexpr RowClass kSizes[] = {
    {"< 1 MB", "below_1_mb", [](const MeasuredCollective& row) { return row.size < kLarge; }},
    {">= 1 MB", "from_1_mb", [](const MeasuredCollective& row) { return row.size >= kLarge; }},
    {">= 64 MB", "from_64_mb", [](const MeasuredCollective& row) { return row.size >= kHuge; }}};
constexpr RowClass kKinds[] = {
    {"all", "all", [](const MeasuredCollective&) { return true; }},
    {"all-to-all", "all_to_all",
     [](const MeasuredCollective& row) { return row.kind == CallKind::collective; }},
    {"dispatch", "dispatch",
     [](const MeasuredCollective& row) { return row.kind == CallKind::dispatch; }},
    {"combine", "combine",
     [](const MeasuredCollective& row) { return row.kind == CallKind::combine; }}};

constexpr cluster::Constant kCollectiveConstants[] = {cluster::Constant::collective_floor,
                                                      cluster::Constant::collective_ramp,
                                                      cluster::Constant::in_network};
constexpr cluster::Constant kDispatchConstants[] = {
    cluster::Constant::nic_all_to_all,  cluster::Constant::dispatch_alltoall,
    cluster::Constant::dispatch_deepep, cluster::Constant::dispatch_hybridep,
    cluster::Constant::dispatch_uccl,   cluster::Constant::copy_deepep,
    cluster::Constant::message_uccl,    cluster::Constant::message_uccl_blackwell};

constexpr double kMinLatency = 0.1, kMaxLatency = 4, kFirstLatency = 0.5;

using Settings = std::vector<CollectiveSetting>;

Settings with_latency(Settings settings, double factor) {
  for (CollectiveSetting& setting : settings)
    for (cluster::Level& level : setting.cluster.levels)
      if (level.latency_origin == cluster::Origin::calibrated)
        level.latency = factor * level.latency;
  return settings;
}

/// Returns a config whose experts are on all ranks of a setting.
plan::TrainingConfig make_config(const CollectiveSetting& setting) {
  const DispatchSetting& d = *setting.dispatch;
  plan::TrainingConfig config;
  config.model.hidden = d.hidden;
  model::Layer layer;
  layer.ffn.experts = setting.ranks * d.copies;
  layer.ffn.active = d.copies;
  layer.ffn.groups = d.groups;
  layer.ffn.active_groups = d.active_groups;
  config.model.runs = {{1, layer}};
  config.world = setting.ranks;
  config.cluster = setting.cluster;
  config.plan.dp = config.plan.ep = setting.ranks;
  config.plan.dispatcher = d.dispatcher;
  return config;
}

/// Predicts calls with one set of constants. Dispatches come from Links, as in a plan, with links
/// that nothing else loads.
class CallModel {
 public:
  CallModel(Settings settings, const cluster::Calibration& constants)
      : settings_(std::move(settings)), constants_(constants), links_(settings_.size()) {
    configs_.reserve(settings_.size());
    for (const CollectiveSetting& setting : settings_)
      configs_.push_back(setting.dispatch ? make_config(setting) : plan::TrainingConfig{});
  }

  cost::CollectiveCost operator()(const MeasuredCollective& row) {
    const CollectiveSetting& setting = settings_[row.setting];
    if (!setting.dispatch)
      return cost::estimate_collective_cost(row.op, row.size, setting.span, setting.cluster,
                                            constants_);
    std::optional<cost::Links>& links = links_[row.setting];
    if (!links) {
      cluster::Calibration alone = constants_;
      alone[cluster::Constant::nic_training] = 1;
      if (setting.dispatch->processors > 0)
        alone[cluster::Constant::copy_deepep] *=
            double(setting.dispatch->processors) / cost::kDeepEpProcessors;
      links.emplace(configs_[row.setting], alone);
    }
    return links->cost(plan::TrafficKind::ep_all_to_all, row.op, row.size, mesh::GroupKind::ep);
  }

 private:
  Settings settings_;
  cluster::Calibration constants_;
  std::vector<plan::TrainingConfig> configs_;
  std::vector<std::optional<cost::Links>> links_;
};

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
    CallModel model(with_latency(measured_.settings, fit.latency), fit.constants);
    std::vector<double> sums(measured_.systems.size()), counts(measured_.systems.size());
    double all = 0;
    for (const auto& [row, system] : rows_) {
      const MeasuredCollective& m = measured_.rows[row];
      const Seconds predicted = model(m).time + m.harness;
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
    if (systems == 0) return prior_loss(fit.constants);
    return (all / double(rows_.size()) + means / systems) / 2 + prior_loss(fit.constants);
  }

 private:
  double prior_loss(const cluster::Calibration& constants) const {
    if (measured_.dispatches) return 0;  // their priors come from the same rows
    double sum = 0;
    for (const cluster::Constant c : list_fitted(measured_)) {
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
  for (const RowClass& one : list_classes(score.measured)) {
    std::vector<double> errors;
    for (const CollectivePrediction& p : score.predictions) {
      const MeasuredCollective& row = score.measured.rows[p.row];
      if (!system.empty() && row.system != system) continue;
      if (one.holds(row)) errors.push_back(p.*error);
    }
    all.push_back(compute_error_stats(std::move(errors)));
  }
  return all;
}

}  // namespace

std::span<const RowClass> list_classes(const MeasuredCollectives& measured) {
  if (measured.dispatches) return kKinds;
  return kSizes;
}

std::span<const cluster::Constant> list_fitted(const MeasuredCollectives& measured) {
  if (measured.dispatches) return kDispatchConstants;
  return kCollectiveConstants;
}

CollectiveFit fit_collectives(const MeasuredCollectives& measured,
                              const cluster::Calibration& start, std::string_view without) {
  const CollectiveLoss loss(measured, without);
  CollectiveFit best{.constants = start};
  for (const cluster::Constant c : list_fitted(measured)) {
    const catalog::ConstantRow& row = catalog::constants()[std::size_t(c)];
    best.constants[c] = measured.dispatches ? std::sqrt(row.low * row.high) : row.prior;
  }
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
        for (const cluster::Constant c : list_fitted(measured)) {
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
  CallModel model(score.measured.settings, given);
  for (std::size_t i = 0; i < score.measured.rows.size(); ++i) {
    const MeasuredCollective& row = score.measured.rows[i];
    const cost::CollectiveCost each = model(row);
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
      CallModel held_out(with_latency(score.measured.settings, others.latency), others.constants);
      for (CollectivePrediction& p : score.predictions) {
        const MeasuredCollective& row = score.measured.rows[p.row];
        if (row.system != system) continue;
        p.held_out = held_out(row).time + row.harness;
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
