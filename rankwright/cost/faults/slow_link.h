// Slow links: the step time by item if a level of the cluster has less bandwidth than specified,
// the collectives that cross that level, and the axis order that loses least (formulas Z7, Z8). One
// bad cable counts as a slow level: a collective runs at the speed of its slowest link, and all
// replicas wait for it.
#pragma once

#include <span>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/step.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {

/// A level with a bandwidth that replaces the cluster's.
struct SlowLink {
  int level = 0;
  BytesPerSecond bandwidth{};
};

/// The allowed range of the bandwidth relative to the cluster's.
inline constexpr double kMinBandwidth = 1e-3, kMaxBandwidth = 1e3;

/// Returns the cluster with the bandwidths of `links`.
cluster::Cluster with_links(cluster::Cluster cluster, std::span<const SlowLink> links);

/// The effect of slow links on a step.
struct LinkLoss {
  std::vector<SlowLink> links{};
  StepTime before{}, after{};

  /// A collective that crosses a slow link, on the pp rank on which it took longest before.
  struct Crossing {
    plan::TrafficKind kind{};
    plan::Op op{};
    mesh::GroupKind group{};
    i64 pp_rank = 0;
    i64 ranks = 1;
    i64 calls = 0;
    Seconds before{}, after{};  // of all calls, without overlap
  };
  std::vector<Crossing> crossings{};

  /// An order of the axes, with unchanged degrees, and its step time with the slow links.
  struct Choice {
    mesh::Order order{};
    Seconds after{};
  };
  i64 tried = 0;  // number of orders tried, including the plan's own
  Choice best{};  // the plan's own if none is better by more than kMinMitigationGain

  /// Returns the fraction of the throughput that is lost.
  double lost() const { return 1 - before.total() / after.total(); }
};

/// Estimates the loss that slow links cause. Requires: the config has no constraint violation.
LinkLoss estimate_link_loss(const plan::TrainingConfig& config,
                            const cluster::Calibration& calibration,
                            std::span<const SlowLink> links);

/// Returns the axis orders that number the ranks differently, the plan's own first. In the others,
/// axes of degree 1 come last, because their position does not matter.
std::vector<mesh::Order> list_distinct_orders(const plan::Plan& plan);

}  // namespace rankwright::cost
