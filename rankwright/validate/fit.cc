#include "rankwright/validate/fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"

namespace rankwright::validate {
namespace {

constexpr double kScale = 0.07;   // larger residuals count linearly, not quadratically
constexpr double kSparse = 0.25;  // weight of an MoE row: software changes these by 30 to 80 %
constexpr int kRounds = 8;
constexpr double kStep = 0.02;  // relative step of a difference quotient

using ConstantRows = std::vector<const catalog::ConstantRow*>;

/// Returns the constants that are fitted to this kind of data.
ConstantRows find_free_constants(catalog::FitData data) {
  ConstantRows free;
  for (const catalog::ConstantRow& row : catalog::constants())
    if (row.data == data) free.push_back(&row);
  return free;
}

/// Computes ln(predicted / measured).
using Residual = double (*)(const Run&, const plan::TrainingConfig&, const cluster::Calibration&);

double step_residual(const Run& run, const plan::TrainingConfig& config,
                     const cluster::Calibration& values) {
  return std::log(cost::estimate_step_time(config, values).total() / run.measured);
}

double memory_residual(const Run& run, const plan::TrainingConfig& config,
                       const cluster::Calibration& values) {
  return std::log(memory_figure(run, config, values) / run.measured_memory);
}

/// Returns whether a constant may be 0. Such constants are fitted in units of their prior, the
/// others by their logarithm.
bool is_linear(const catalog::ConstantRow& row) { return row.low <= 0; }

double prior_distance(const catalog::ConstantRow& row, double value) {
  return is_linear(row) ? value / row.prior - 1 : std::log(value / row.prior);
}

/// A robust least-squares fit of some constants.
class Fit {
 public:
  Fit(const std::vector<const Case*>& rows, ConstantRows free, Residual residual)
      : cases_(rows), free_(std::move(free)), residual_(residual) {
    std::map<std::string, double> sizes;
    for (const Case* one : rows) sizes[one->run.family] += 1;
    for (const Case* one : rows)
      weights_.push_back((one->run.sparse ? kSparse : 1) / std::sqrt(sizes[one->run.family]));
  }

  /// Returns `values` with the fitted constants.
  cluster::Calibration run(cluster::Calibration values) {
    for (const catalog::ConstantRow* row : free_) values[row->constant] = row->prior;
    if (cases_.empty()) return values;
    for (int round = 0; round < kRounds; ++round) {
      choose(values);
      const Eigen::VectorXd residuals = residuals_of(values);
      const double before = loss(values, residuals);
      cluster::Calibration next = move(values, residuals);
      double after = loss(next, residuals_of(next));
      for (int half = 0; half < 4 && after >= before; ++half) {
        for (const catalog::ConstantRow* row : free_)
          next[row->constant] = (next[row->constant] + values[row->constant]) / 2;
        after = loss(next, residuals_of(next));
      }
      if (after >= before) break;
      values = next;
      if (before - after < 1e-4 * before) break;
    }
    return values;
  }

 private:
  /// Chooses for each case the option that is fastest with these constants.
  void choose(const cluster::Calibration& values) {
    chosen_.clear();
    for (const Case* one : cases_) chosen_.push_back(&one->options[predict(*one, values).option]);
  }

  Eigen::VectorXd residuals_of(const cluster::Calibration& values) const {
    Eigen::VectorXd all(Eigen::Index(cases_.size()));
    for (std::size_t i = 0; i < cases_.size(); ++i)
      all[Eigen::Index(i)] = residual_(cases_[i]->run, *chosen_[i], values);
    return all;
  }

  /// V1: the sum of weight * (sqrt(1 + (r / scale)^2) - 1) plus half the squared distances from the
  /// priors.
  double loss(const cluster::Calibration& values, const Eigen::VectorXd& residuals) const {
    double sum = 0;
    for (std::size_t i = 0; i < cases_.size(); ++i)
      sum += weights_[i] * (std::hypot(1, residuals[Eigen::Index(i)] / kScale) - 1);
    for (const catalog::ConstantRow* row : free_)
      sum += 0.5 * std::pow(prior_distance(*row, values[row->constant]) / row->spread, 2);
    return sum;
  }

  /// Performs one Gauss-Newton step.
  cluster::Calibration move(const cluster::Calibration& values,
                            const Eigen::VectorXd& residuals) const {
    const Eigen::Index n = Eigen::Index(free_.size());
    Eigen::MatrixXd slope(residuals.size(), n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const catalog::ConstantRow& row = *free_[std::size_t(j)];
      cluster::Calibration moved = values;
      double& x = moved[row.constant];
      const double by = kStep * (is_linear(row) ? row.prior : x);
      x += x + by > row.high ? -by : by;
      slope.col(j) = (residuals_of(moved) - residuals) /
                     (prior_distance(row, x) - prior_distance(row, values[row.constant]));
    }
    Eigen::VectorXd weight(residuals.size());
    for (Eigen::Index i = 0; i < residuals.size(); ++i)
      weight[i] =
          weights_[std::size_t(i)] / (kScale * kScale) / std::hypot(1, residuals[i] / kScale);
    Eigen::MatrixXd normal = slope.transpose() * weight.asDiagonal() * slope;
    Eigen::VectorXd pull = -(slope.transpose() * weight.asDiagonal() * residuals);
    for (Eigen::Index j = 0; j < n; ++j) {
      const catalog::ConstantRow& row = *free_[std::size_t(j)];
      const double prior = 1 / (row.spread * row.spread);
      normal(j, j) += prior;
      pull[j] -= prior * prior_distance(row, values[row.constant]);
    }
    const Eigen::VectorXd by = normal.ldlt().solve(pull);
    cluster::Calibration next = values;
    for (Eigen::Index j = 0; j < n; ++j) {
      const catalog::ConstantRow& row = *free_[std::size_t(j)];
      double& x = next[row.constant];
      x = is_linear(row) ? x + by[j] * row.prior : x * std::exp(std::clamp(by[j], -0.5, 0.5));
      x = std::clamp(x, row.low, row.high);
    }
    return next;
  }

  const std::vector<const Case*>& cases_;
  std::vector<const catalog::ConstantRow*> free_;
  Residual residual_;
  std::vector<double> weights_{};
  std::vector<const plan::TrainingConfig*> chosen_{};
};

}  // namespace

Case make_case(const Run& run) {
  Case one{.run = run};
  const std::vector<Run> all = list_choices(run);
  Bytes min{INFINITY};
  const plan::TrainingConfig* smallest = &all.front().config;
  for (const Run& choice : all) {
    const Bytes memory = cost::fullest(choice.config, catalog::get_calibration()).total();
    if (memory <= choice.config.cluster.device.memory) one.options.push_back(choice.config);
    if (memory < min) min = memory, smallest = &choice.config;
  }
  if (one.options.empty()) one.options.push_back(*smallest);
  return one;
}

std::vector<Case> make_cases(const std::vector<Run>& runs) {
  std::vector<Case> all;
  for (const Run& run : runs) all.push_back(make_case(run));
  return all;
}

Prediction predict(const Case& one, const cluster::Calibration& values) {
  Prediction best{0, cost::estimate_step_time(one.options[0], values).total()};
  for (std::size_t k = 1; k < one.options.size(); ++k) {
    const Seconds time = cost::estimate_step_time(one.options[k], values).total();
    if (time < best.step) best = {k, time};
  }
  return best;
}

Bytes memory_figure(const Run& run, const plan::TrainingConfig& config,
                    const cluster::Calibration& values) {
  const cost::MemoryEstimate estimate = cost::fullest(config, values);
  switch (run.memory_figure) {
    case MemoryFigure::allocated:
      return estimate.allocated();
    case MemoryFigure::reserved:
      return estimate.reserved();
    case MemoryFigure::device:
      return estimate.total();
  }
  return {};
}

cluster::Calibration fit(const std::vector<const Case*>& rows) {
  std::vector<const Case*> dense, sparse, with_memory;
  for (const Case* one : rows) {
    if (one->run.measured.value > 0) (one->run.sparse ? sparse : dense).push_back(one);
    if (one->run.measured_memory.value > 0) with_memory.push_back(one);
  }
  const ConstantRows experts = find_free_constants(catalog::FitData::expert_steps);
  cluster::Calibration values = catalog::get_calibration();
  for (const catalog::ConstantRow* row : experts) values[row->constant] = row->prior;
  values = Fit(dense, find_free_constants(catalog::FitData::steps), step_residual).run(values);
  values = Fit(sparse, experts, step_residual).run(values);
  return Fit(with_memory, find_free_constants(catalog::FitData::memory), memory_residual)
      .run(values);
}

}  // namespace rankwright::validate
