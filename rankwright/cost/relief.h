// What would make a slow rank hurt less: another place for its device, fewer layers on its stage,
// or doing without its replica. Each is offered with the step that it gives, and only where that is
// shorter. The price of the slow rank itself is straggler.h. Formulas Z4 to Z6.
#pragma once

#include <optional>

#include "rankwright/cost/straggler.h"

namespace rankwright {

/// The slow device works for another pp rank: two hosts change places, or two devices of one host.
struct Swap {
  bool hosts = false;  // else devices
  i64 first = 0, second = 0;
  i64 pp_rank = 0;  // that the slow device then works for
  Seconds after{};
  std::optional<Placement> placement{};  // where the world is small enough to list it
};
std::optional<Swap> better_place(const Setup& setup, const Calibration& calibration,
                                 const Straggler& slow);

/// Layers go from the slow pp rank to others, on all replicas: the plan has one split.
struct Lighter {
  Stages stages{};
  i64 moved = 0;  // layers
  Seconds after{};
};
std::optional<Lighter> lighter_stages(const Setup& setup, const Calibration& calibration,
                                      const Straggler& slow);

/// Z6: the share of the healthy throughput that is left without the replica of the slow rank, the
/// others working as before. Nothing where there is only one.
std::optional<double> without_replica(const Plan& plan);

/// All three.
struct Relief {
  std::optional<Swap> place{};
  std::optional<Lighter> lighter{};
  std::optional<double> without{};
};
Relief relief(const Setup& setup, const Calibration& calibration, const Straggler& slow);

}  // namespace rankwright
