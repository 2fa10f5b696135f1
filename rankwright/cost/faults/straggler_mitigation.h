// Straggler mitigations: another pp rank for the slow device, fewer layers on its stage, or
// dropping its replica (formulas Z4 to Z6). The first two come with the resulting step time and are
// offered only if that is shorter by more than the noise of a measurement. The cost of the
// straggler itself is estimated in straggler.h.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/cost/faults/straggler.h"

namespace rankwright::cost {

/// A swap of two hosts, or of two devices of one host, that moves the slow device to another pp
/// rank.
struct Swap {
  bool hosts = false;                          // true: hosts are swapped; false: devices
  i64 first = 0, second = 0;                   // indices of the two hosts or devices
  i64 pp_rank = 0;                             // pp rank of the slow device after the swap
  Seconds after{};                             // step time after the swap
  std::optional<mesh::Placement> placement{};  // if the world is small enough to list it
};

/// Returns the best swap, or nullopt if no swap shortens the step.
std::optional<Swap> find_better_place(const plan::TrainingConfig& config,
                                      const cluster::Calibration& calibration,
                                      const Straggler& slow);

/// A stage split with fewer layers on the slow pp rank. It applies to all replicas, because a plan
/// has one split.
struct Rebalance {
  plan::Stages stages{};
  i64 moved = 0;    // number of layers moved
  Seconds after{};  // step time with the new split
};

/// Returns a split that shortens the step, or nullopt if none is found.
std::optional<Rebalance> find_lighter_stages(const plan::TrainingConfig& config,
                                             const cluster::Calibration& calibration,
                                             const Straggler& slow);

/// The plan without the replica of the slow rank (Z6).
struct WithoutReplica {
  i64 dp = 1;             // replicas that remain
  i64 world = 1;          // ranks that remain
  i64 global_batch = 0;   // the largest batch, up to the plan's, that divides over them
  double throughput = 0;  // fraction of the healthy throughput
};

/// Returns the plan without one replica; nullopt if there is only one, or if no batch makes the
/// plan valid with fewer. Requires: the config has no constraint violation.
std::optional<WithoutReplica> estimate_without_replica(const plan::TrainingConfig& config);

/// The mitigations that are available.
struct StragglerMitigation {
  std::optional<Swap> place{};
  std::optional<Rebalance> lighter{};
  std::optional<WithoutReplica> without{};
};

/// Finds all mitigations of a straggler; none if the step is not slower than without it.
StragglerMitigation mitigate_straggler(const plan::TrainingConfig& config,
                                       const cluster::Calibration& calibration,
                                       const Straggler& slow);

/// A way to go on with a straggler until its device is replaced.
enum class Remedy : unsigned char { wait, place, lighter, without };

/// A remedy and the fraction of the healthy throughput that it leaves.
struct RankedRemedy {
  Remedy remedy{};
  double throughput = 0;
};

/// Ranks the available mitigations and doing nothing by throughput, highest first. If two are
/// equal, the one that changes less is first.
std::vector<RankedRemedy> rank_remedies(const Straggler& slow,
                                        const StragglerMitigation& mitigation);

}  // namespace rankwright::cost
