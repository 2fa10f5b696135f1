#include "rankwright/cost/faults/straggler_mitigation.h"

#include <algorithm>
#include <numeric>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::cost {
namespace {

constexpr i64 kMaxListed = 16384;  // ranks; listing the placement makes span counting slow
constexpr i64 kMaxSplits = 2000;   // that are evaluated

/// Returns whether step time `a` is shorter than `b` by more than noise.
bool is_better(Seconds a, Seconds b) { return a < (1 - kMinMitigationGain) * b; }

/// Returns the plan's placement with two devices, or two hosts, swapped.
mesh::Placement swap_devices(const plan::TrainingConfig& config, const Swap& swap, i64 host) {
  mesh::Placement placement{.kind = mesh::Placement::Kind::listed};
  const i64 size = swap.hosts ? host : 1;
  for (i64 rank = 0; rank < config.world; ++rank) {
    const i64 device = config.plan.placement.device(rank);
    const i64 block = device / size;
    const i64 other = block == swap.first ? swap.second : block == swap.second ? swap.first : block;
    placement.devices.push_back(other * size + device % size);
  }
  return placement;
}

}  // namespace

std::optional<Swap> find_better_place(const plan::TrainingConfig& config,
                                      const cluster::Calibration& calibration,
                                      const Straggler& slow) {
  const Straggler::Place& now = slow.places[std::size_t(slow.now)];
  const Straggler::Place& best = slow.places[std::size_t(slow.best)];
  if (!is_better(best.after, now.after)) return std::nullopt;
  const mesh::Mesh mesh = config.plan.meshes().dense;
  const i64 partner = slow.waited_for + (best.pp_rank - now.pp_rank) * mesh.stride(mesh::Axis::pp);
  const mesh::Placement& placement = config.plan.placement;
  const i64 host = std::max<i64>(1, config.cluster.host_devices);
  const i64 first = placement.device(slow.waited_for), second = placement.device(partner);
  Swap swap{.hosts = first / host != second / host, .pp_rank = best.pp_rank, .after = best.after};
  swap.first = swap.hosts ? first / host : first;
  swap.second = swap.hosts ? second / host : second;
  // A partially used host cannot swap with a full one.
  if (swap.hosts && std::max(swap.first, swap.second) * host + host > config.world)
    return std::nullopt;
  if (config.world > kMaxListed) return swap;

  plan::TrainingConfig after = config;
  after.plan.placement = swap_devices(config, swap, host);
  std::vector<SlowRank> moved = slow.slow;
  for (SlowRank& one : moved) one.rank = after.plan.placement.rank(placement.device(one.rank));
  swap.after = SlowSteps(after, calibration, slow.simulated).step(moved);
  if (!is_better(swap.after, slow.after)) return std::nullopt;
  swap.placement = after.plan.placement;
  return swap;
}

// Z5: greedy. Moves one layer at a time to where it helps most, until no move helps.
std::optional<Rebalance> find_lighter_stages(const plan::TrainingConfig& config,
                                             const cluster::Calibration& calibration,
                                             const Straggler& slow) {
  if (config.plan.pp == 1 || is_slow_to_evaluate(config)) return std::nullopt;
  const mesh::Mesh mesh = config.plan.meshes().dense;
  const std::vector<i64> heavy =
      list_stages(config.plan, mesh.coordinate(slow.waited_for, mesh::Axis::pp));
  const Bytes room = std::max(config.cluster.device.memory, fullest(config, calibration).total());
  plan::TrainingConfig trial = config;
  trial.plan.stages = config.stages();
  const i64 stages = i64(trial.plan.stages.size());
  const i64 each = std::max<i64>(1, stages * i64(heavy.size()));
  const auto evaluate = [&](bool simulate) {
    return SlowSteps(trial, calibration, simulate).step(slow.slow);
  };
  Seconds best = evaluate(false);
  Rebalance out;
  for (i64 round = 0; round < kMaxSplits / each; ++round) {
    std::optional<plan::Stages> next;
    const plan::Stages now = trial.plan.stages;
    for (const i64 from : heavy) {
      if (now[std::size_t(from)].layers <= 1) continue;
      for (i64 to = 0; to < stages; ++to) {
        if (std::find(heavy.begin(), heavy.end(), to) != heavy.end()) continue;
        trial.plan.stages = now;
        --trial.plan.stages[std::size_t(from)].layers;
        ++trial.plan.stages[std::size_t(to)].layers;
        if (const Seconds after = evaluate(false); after < best)
          best = after, next = trial.plan.stages;
      }
    }
    trial.plan.stages = next.value_or(now);
    if (next && fullest(trial, calibration).total() > room) trial.plan.stages = now, next.reset();
    if (!next) break;
    ++out.moved;
  }
  if (out.moved == 0) return std::nullopt;
  out.after = evaluate(slow.simulated);
  if (!is_better(out.after, slow.after)) return std::nullopt;
  out.stages = trial.plan.stages;
  return out;
}

std::optional<WithoutReplica> estimate_without_replica(const plan::TrainingConfig& config) {
  const i64 dp = config.plan.dp;
  if (dp == 1) return std::nullopt;
  plan::TrainingConfig fewer = config;
  fewer.plan.dp = dp - 1;
  fewer.world = config.world / dp * (dp - 1);
  fewer.plan.placement = {};  // which devices remain does not change the arithmetic
  const i64 at_once = config.plan.micro_batch * fewer.plan.dp;
  const i64 max = config.job.global_batch / at_once;
  // Some schedules need an even number of microbatches. The plan's own number is always supported.
  for (const i64 microbatches : {max, max / 2 * 2, config.microbatches()}) {
    fewer.job.global_batch = microbatches * at_once;
    if (microbatches > 0 && !find_first_violation(fewer))
      return WithoutReplica{.dp = fewer.plan.dp,
                            .world = fewer.world,
                            .global_batch = fewer.job.global_batch,
                            .throughput = double(dp - 1) / double(dp)};
  }
  return std::nullopt;
}

StragglerMitigation mitigate_straggler(const plan::TrainingConfig& config,
                                       const cluster::Calibration& calibration,
                                       const Straggler& slow) {
  // A faster rank needs no mitigation.
  if (slow.after <= slow.before) return {};
  return {find_better_place(config, calibration, slow),
          find_lighter_stages(config, calibration, slow), estimate_without_replica(config)};
}

std::vector<RankedRemedy> rank_remedies(const Straggler& slow,
                                        const StragglerMitigation& mitigation) {
  std::vector<RankedRemedy> all{{Remedy::wait, slow.before / slow.after}};
  if (mitigation.place) all.push_back({Remedy::place, slow.before / mitigation.place->after});
  if (mitigation.lighter) all.push_back({Remedy::lighter, slow.before / mitigation.lighter->after});
  if (mitigation.without) all.push_back({Remedy::without, mitigation.without->throughput});
  std::stable_sort(all.begin(), all.end(), [](const RankedRemedy& a, const RankedRemedy& b) {
    return a.throughput > b.throughput;
  });
  return all;
}

}  // namespace rankwright::cost
