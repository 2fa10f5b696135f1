#include "rankwright/cost/faults/straggler.h"

#include <algorithm>
#include <map>

#include "rankwright/cost/durations.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/program/expand.h"

namespace rankwright::cost {
namespace {

constexpr i64 kMaxCells = 400'000;               // per simulation
constexpr i64 kMaxTotalCells = 8'000'000;        // over the simulations of all places
constexpr Bytes kMaxBytes{256.0 * 1024 * 1024};  // of the expansion
constexpr i64 kMaxPlaces = 256;                  // pp ranks on which a slow device is tried

bool is_small(const plan::TrainingConfig& config, const pipeline::PipelineShape& shape) {
  const std::optional<i64> cells = pipeline::cell_count(shape);
  return cells && *cells <= kMaxCells && program::bound_expansion_bytes(config) <= kMaxBytes;
}

/// Adds `more` times the computation of a stage to its times.
pipeline::StageTimes extend(const pipeline::StageTimes& stage, double more,
                            const pipeline::StageTimes& compute) {
  return {stage.forward + more * compute.forward, stage.input + more * compute.input,
          stage.weight + more * compute.weight};
}

/// Returns all pp ranks, or kMaxPlaces evenly spaced ones from the first to the last, plus `now`.
std::vector<i64> list_places(i64 pp, i64 now) {
  std::vector<i64> ranks;
  const i64 max = std::min(pp, kMaxPlaces);
  for (i64 k = 0; k < max; ++k) ranks.push_back(max == 1 ? 0 : k * (pp - 1) / (max - 1));
  ranks.push_back(now);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

bool is_slow_to_evaluate(const plan::TrainingConfig& config) {
  constexpr i64 kMany = i64{1} << 16;
  const bool even = config.plan.placement.kind == mesh::Placement::Kind::block &&
                    (config.world & (config.world - 1)) == 0;
  return config.world > kMany && !even;
}

ReplicaSync find_replica_sync(const plan::Plan& plan) {
  if (plan.dp == 1) return ReplicaSync::never;
  if (plan.zero >= 3) return ReplicaSync::gathers;
  return plan.ep * plan.etp > plan.tp * plan.cp ? ReplicaSync::experts : ReplicaSync::gradients;
}

SlowSteps::SlowSteps(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                     bool simulate)
    : config_(config),
      shape_(make_pipeline_shape(config)),
      meshes_(config.plan.meshes()),
      whole_(simulate ? estimate_closely(config, calibration).step
                      : estimate_step_time(config, calibration)),
      cells_(estimate_cell_times(config, calibration)),
      holders_(cells_.stages.size()) {
  const ReplicaSync meet = find_replica_sync(config.plan);
  coupled_ = meet == ReplicaSync::experts || meet == ReplicaSync::gathers;
  for (i64 r = 0; r < config.plan.pp; ++r)
    for (const i64 s : list_stages(config.plan, r)) holders_[std::size_t(s)].push_back(r);
  if (simulate && is_small(config, shape_)) {
    program_ = program::expand(config);
    durations_ = compute_durations(config, *program_, calibration);
  }
  healthy_end_ = end(no_factors());
}

// Replicas that synchronize inside layers count as one unit.
i64 SlowSteps::unit(i64 rank) const {
  return coupled_ ? 0 : meshes_.dense.coordinate(rank, mesh::Axis::dp);
}

// Z1: the ranks of a stage run at the speed of the slowest.
std::vector<double> SlowSteps::factors(std::span<const SlowRank> slow, i64 rank) const {
  std::vector<double> max = no_factors();
  std::vector<i64> listed(max.size());
  for (const SlowRank& one : slow) {
    if (unit(one.rank) != unit(rank)) continue;
    const std::size_t r = std::size_t(meshes_.dense.coordinate(one.rank, mesh::Axis::pp));
    max[r] = listed[r]++ == 0 ? one.factor : std::max(max[r], one.factor);
  }
  const i64 together = plan().tp * plan().cp * (coupled_ ? plan().dp : 1);
  for (std::size_t r = 0; r < max.size(); ++r)
    if (listed[r] < together) max[r] = std::max(max[r], 1.0);
  return max;
}

// A stage that two pp ranks hold gets the time of the slower one.
double SlowSteps::stage_factor(i64 stage, const std::vector<double>& factors) const {
  double max = 0;
  for (const i64 r : holders_[std::size_t(stage)]) max = std::max(max, factors[std::size_t(r)]);
  return max;
}

Seconds SlowSteps::simulate_end(const std::vector<double>& factors) const {
  program::Durations times = durations_;
  for (std::size_t s = 0; s < times.cells.size(); ++s) {
    const pipeline::StageTimes stage =
        extend(cells_.stages[s], stage_factor(i64(s), factors) - 1, cells_.compute[s]);
    times.cells[s] = {stage.forward, stage.input + stage.weight, stage.input, stage.weight};
  }
  for (std::size_t r = 0; r < times.steps.size(); ++r)
    for (std::size_t k = 0; k < times.steps[r].size(); ++k)
      if (program_->steps[r][k].computes()) times.steps[r][k] = factors[r] * times.steps[r][k];
  return program::simulate(*program_, times).end;
}

// Z2
Seconds SlowSteps::end(const std::vector<double>& factors) const {
  if (program_) return simulate_end(factors);
  std::vector<pipeline::StageTimes> stages = cells_.stages;
  for (std::size_t s = 0; s < stages.size(); ++s)
    stages[s] = extend(stages[s], stage_factor(i64(s), factors) - 1, cells_.compute[s]);
  const double slowest = *std::max_element(factors.begin(), factors.end());
  const Seconds optimizer = slowest * whole_.beside_pipeline();
  if (plan().pp > 1) return estimate_pipeline_time(shape_, stages, cells_.hop) + optimizer;
  Seconds all = optimizer;
  for (const pipeline::StageTimes& stage : stages)
    all += double(shape_.microbatches) * stage.total();
  return all;
}

// Z3: all replicas wait for the last one.
Seconds SlowSteps::step(std::span<const SlowRank> slow) const {
  std::map<i64, i64> units;  // unit to a slow rank in it
  for (const SlowRank& one : slow) units.emplace(unit(one.rank), one.rank);
  const bool others = i64(units.size()) < (coupled_ ? 1 : plan().dp);
  std::optional<Seconds> last;
  if (others || units.empty()) last = healthy_end_;
  for (const auto& [unit, rank] : units) {
    const Seconds ends = end(factors(slow, rank));
    last = last ? std::max(*last, ends) : ends;
  }
  // If the simulation is longer than the estimate, its difference is scaled down to the estimate.
  const double scale = std::min(1.0, healthy() / healthy_end_);
  return healthy() + scale * (*last - healthy_end_);
}

Seconds SlowSteps::busy(i64 pp_rank) const {
  Seconds all{};
  for (const i64 s : list_stages(plan(), pp_rank)) all += cells_.stages[std::size_t(s)].total();
  return double(config_.stage_microbatches()) * all;
}

Seconds SlowSteps::compute(i64 pp_rank) const {
  Seconds all{};
  for (const i64 s : list_stages(plan(), pp_rank)) all += cells_.compute[std::size_t(s)].total();
  return double(config_.stage_microbatches()) * all;
}

namespace {

/// Returns the slow rank whose replica ends last.
i64 find_last(const SlowSteps& steps, std::span<const SlowRank> slow) {
  i64 rank = slow.front().rank;
  Seconds latest{};
  double factor = 0;
  for (const SlowRank& one : slow) {
    const Seconds ends = steps.end(steps.factors(slow, one.rank));
    // Within one replica, choose the slowest rank.
    if (ends > latest || (ends == latest && one.factor > factor))
      latest = ends, rank = one.rank, factor = one.factor;
  }
  return rank;
}

void try_places(const plan::TrainingConfig& config, const SlowSteps& steps, Straggler& out) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  const i64 here = mesh.coordinate(out.waited_for, mesh::Axis::pp);
  std::vector<SlowRank> moved = out.slow;
  for (const i64 r : list_places(config.plan.pp, here)) {
    const i64 there = out.waited_for + (r - here) * mesh.stride(mesh::Axis::pp);
    // If the rank at the new place is slow too, the two swap.
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const i64 rank = out.slow[k].rank;
      moved[k].rank = rank == out.waited_for ? there : rank == there ? out.waited_for : rank;
    }
    if (r == here) out.now = i64(out.places.size());
    out.places.push_back({r, steps.step(moved)});
    if (out.places.back().after < out.places[std::size_t(out.best)].after)
      out.best = i64(out.places.size()) - 1;
  }
  // Keep the current place unless another one is strictly better.
  if (out.places[std::size_t(out.best)].after >= out.places[std::size_t(out.now)].after)
    out.best = out.now;
}

}  // namespace

Straggler estimate_straggler(const plan::TrainingConfig& config,
                             const cluster::Calibration& calibration,
                             std::span<const SlowRank> slow) {
  const SlowSteps steps(config, calibration, true);
  Straggler out{.slow = {slow.begin(), slow.end()},
                .before = steps.healthy(),
                .after = steps.step(slow),
                .simulated = steps.simulated(),
                .meet = find_replica_sync(config.plan),
                .waited_for = find_last(steps, slow)};
  const std::vector<double> factors = steps.factors(slow, out.waited_for);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const double factor = factors[std::size_t(r)];
    out.ranks.push_back({factor, steps.busy(r), (factor - 1) * steps.compute(r)});
  }
  const i64 cells = pipeline::cell_count(make_pipeline_shape(config)).value_or(kMaxTotalCells);
  const i64 simulations = std::min(config.plan.pp, kMaxPlaces) * i64(slow.size());
  if (steps.simulated() && cells <= kMaxTotalCells / std::max<i64>(1, simulations))
    try_places(config, steps, out);
  else
    try_places(config, SlowSteps(config, calibration, false), out);
  return out;
}

}  // namespace rankwright::cost
