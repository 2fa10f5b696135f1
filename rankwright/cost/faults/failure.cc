#include "rankwright/cost/faults/failure.h"

#include <algorithm>
#include <cmath>

#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/cost/step.h"
#include "rankwright/model/parameters.h"
#include "rankwright/plan/adapters.h"

namespace rankwright::cost {
namespace {

/// Computes log(e^x - 1). Requires: x > 0.
double log_expm1(double x) { return x > 30 ? x : std::log(std::expm1(x)); }

/// Computes log(1 - u) + u without cancellation for small u.
double log1m_plus(double u) {
  if (u < 1e-4) return -u * u * (1.0 / 2 + u / 3 + u * u / 4);
  return std::log1p(-u) + u;
}

/// Computes the log of the time per second of useful work, up to a constant.
double log_overhead(Seconds work, const FailureModel& model) {
  return log_expm1((work + model.checkpoint) / model.between) - std::log(work.value);
}

}  // namespace

Seconds compute_expected_time(Seconds work, const FailureModel& model) {
  const double m = model.between.value;
  return Seconds{m * std::exp(model.restart.value / m) *
                 std::expm1((work + model.checkpoint).value / m)};
}

// The derivative of Z10 / work is 0 where (1 - u) e^(u + c) = 1, with u = work / M and c = C / M.
// The logarithm of the left side falls from c to minus infinity between u = 0 and 1, so bisection
// finds the root. The restart time is a constant factor and does not matter.
Seconds find_best_interval(const FailureModel& model) {
  const double c = model.checkpoint / model.between;
  double low = 0, high = 1;
  for (int k = 0; k < 200; ++k) {
    const double middle = (low + high) / 2;
    (log1m_plus(middle) + c > 0 ? low : high) = middle;
  }
  return high * model.between;
}

i64 find_best_steps(Seconds step, const FailureModel& model) {
  const double steps = std::min(find_best_interval(model) / step, 1e15);
  const i64 fewer = std::max<i64>(1, i64(std::floor(steps)));
  const bool more =
      log_overhead(double(fewer + 1) * step, model) < log_overhead(double(fewer) * step, model);
  return more ? fewer + 1 : fewer;
}

Uptime compute_uptime(Seconds interval, const FailureModel& model) {
  const double m = model.between.value;
  const double x = (interval + model.checkpoint).value / m;
  // Restarts can be interrupted by further failures: e^(-R/M) of the time is spent outside
  // restarts.
  const double outside = std::exp(-model.restart.value / m);
  const double grown = std::expm1(x);
  return {.interval = interval,
          .useful = outside * (interval.value / m) / grown,
          .checkpoints = outside * (model.checkpoint.value / m) / grown,
          .lost = outside * (1 - x / grown),
          .restarts = 1 - outside,
          .lost_each = Seconds{m * (1 - x / grown)}};
}

Bytes count_checkpoint_bytes(const plan::TrainingConfig& config) {
  if (config.job.frozen()) {  // only adapters are saved
    plan::Share adapters;
    for (const model::LayerRun& run : config.model.runs)
      adapters += run.count * count_adapter_share(config, run.layer);
    const double copies = double(config.plan.tp);
    const double experts = double(config.plan.ep) * double(config.plan.etp);
    return bytes(double(adapters.dense) * copies + double(adapters.expert) * experts,
                 double(plan::adapter_bytes(config.job)) + config.job.optimizer_bytes());
  }
  return bytes(count_parameters(config.model).total(), double(config.job.param_bytes())) +
         bytes(count_trained_parameters(config.model).total(), config.job.optimizer_bytes());
}

i64 count_checkpoint_nodes(const plan::TrainingConfig& config) {
  const i64 host = std::max<i64>(1, config.cluster.host_devices);
  const i64 writers =
      config.plan.zero >= 1 ? config.world : config.world / config.plan.data_ranks();
  return std::max<i64>(1, ceil_div(writers, host));
}

Copies count_copies(const plan::TrainingConfig& config) {
  const plan::Plan& plan = config.plan;
  const i64 pairs = plan.mirrored() ? 2 : 1;
  const bool weights = shards_weights(config);
  const i64 replicas = plan.data_ranks() / std::max<i64>(1, plan.shards());
  const i64 whole = pairs * plan.data_ranks(), shard = pairs * replicas;
  Copies dense{.parameters = weights ? shard : whole, .optimizer = plan.zero >= 1 ? shard : whole};
  if (!config.model.sparse()) return dense;
  // Experts have one copy per expert-data-parallel rank. The smaller number of copies counts.
  const i64 experts = pairs * plan.expert_dp();
  return {.parameters = std::min(dense.parameters, weights ? pairs : experts),
          .optimizer = std::min(dense.optimizer, plan.zero >= 1 ? pairs : experts)};
}

Failure estimate_failure(const plan::TrainingConfig& config,
                         const cluster::Calibration& calibration, i64 rank,
                         const FailureTask& task) {
  Failure out{.task = task, .step = estimate_closely(config, calibration).time()};
  FailureModel hung = task.model;
  hung.restart += task.hang;
  FailureModel slow = task.model;
  slow.checkpoint = kSlowStorage * slow.checkpoint;
  if (!task.interval) out.steps = find_best_steps(out.step, task.model);
  const auto find_interval = [&](const FailureModel& model) {
    return task.interval.value_or(double(find_best_steps(out.step, model)) * out.step);
  };
  const Seconds interval = find_interval(task.model);
  out.uptime = compute_uptime(interval, task.model);
  out.when_hung = compute_uptime(interval, hung);
  out.with_slow_storage = compute_uptime(find_interval(slow), slow);
  out.copies = count_copies(config);
  const MemoryEstimate held = estimate_memory(
      config, config.plan.meshes().dense.coordinate(rank, mesh::Axis::pp), calibration);
  out.parameters = held[Entry::parameters];
  out.optimizer = held[Entry::optimizer];
  return out;
}

}  // namespace rankwright::cost
