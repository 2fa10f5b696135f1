// What would make a slow rank hurt less: another place for its device, fewer layers on its stage,
// or doing without its replica. Each is offered with the step that it gives, and only where that is
// shorter. The price of the slow rank itself is straggler.h. Formulas Z4 to Z6.
#pragma once

#include <optional>

#include "rankwright/cost/faults/straggler.h"

namespace rankwright::cost {

/// The slow device works for another pp rank: two hosts change places, or two devices of one host.
struct Swap {
  bool hosts = false;  // else devices
  i64 first = 0, second = 0;
  i64 pp_rank = 0;  // that the slow device then works for
  Seconds after{};
  std::optional<mesh::Placement> placement{};  // where the world is small enough to list it
};
std::optional<Swap> better_place(const plan::TrainingConfig& config,
                                 const cluster::Calibration& calibration, const Straggler& slow);

/// Layers go from the slow pp rank to others, on all replicas: the plan has one split.
struct Rebalance {
  plan::Stages stages{};
  i64 moved = 0;  // layers
  Seconds after{};
};
std::optional<Rebalance> lighter_stages(const plan::TrainingConfig& config,
                                        const cluster::Calibration& calibration,
                                        const Straggler& slow);

/// Z6: the share of the healthy throughput that is left without the replica of the slow rank, the
/// others working as before. Nothing where there is only one.
std::optional<double> without_replica(const plan::Plan& plan);

/// All three.
struct StragglerMitigation {
  std::optional<Swap> place{};
  std::optional<Rebalance> lighter{};
  std::optional<double> without{};
};
StragglerMitigation mitigate_straggler(const plan::TrainingConfig& config,
                                       const cluster::Calibration& calibration,
                                       const Straggler& slow);

}  // namespace rankwright::cost
