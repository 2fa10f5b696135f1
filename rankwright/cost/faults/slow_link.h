// Slow links: what a step loses when a level of the cluster has less bandwidth than it should, item
// by item, which collectives cross that level, and which order of the axes would hurt less. One bad
// cable is priced as a bad level: a collective goes at the pace of its slowest link, and all
// replicas wait for the one that has it. Formulas Z7, Z8.
#pragma once

#include <span>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/step.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

/// The level's bandwidth is this instead of the cluster's.
struct SlowLink {
  int level = 0;
  BytesPerSecond bandwidth{};
};

/// What a bandwidth may be changed by: 0.001 to 1000.
inline constexpr double kMinBandwidth = 1e-3, kMaxBandwidth = 1e3;

cluster::Cluster with_links(cluster::Cluster cluster, std::span<const SlowLink> links);

struct LinkLoss {
  std::vector<SlowLink> links{};
  StepTime before{}, after{};

  /// A collective of the pp rank that sets the pace which crosses a slow link.
  struct Crossing {
    plan::TrafficKind kind{};
    plan::Op op{};
    mesh::GroupKind group{};
    i64 ranks = 1;
    i64 calls = 0;
    Seconds before{}, after{};  // of all calls, as if nothing were hidden
  };
  std::vector<Crossing> crossings{};

  /// Another order of the axes, same degrees, on the slow links.
  struct Choice {
    mesh::Order order{};
    Seconds after{};
  };
  i64 tried = 0;  // orders, with the plan's own
  Choice best{};  // the plan's own where none is better

  double lost() const { return 1 - before.total() / after.total(); }
};

/// The config has no violation.
LinkLoss link_loss(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                   std::span<const SlowLink> links);

/// The orders that number the ranks differently, the plan's own first: axes of degree 1 stand
/// behind those before them in it.
std::vector<mesh::Order> distinct_orders(const plan::Plan& plan);

}  // namespace rankwright::cost
