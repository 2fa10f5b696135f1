// Finds the bandwidth and the latency of one level from all that was measured on it: the figures
// with which the model of collectives (cost/collective.h) is nearest to every call of every kind.
// link_fit.h does the same for one series of a GPU's collectives, with the shipped constants.
#pragma once

#include <span>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"
#include "rankwright/mesh/placement.h"

namespace rankwright::fit {

/// One kind of call by all groups that lie as `span` says, at the same time.
struct SpannedSeries {
  plan::Op op{};
  mesh::Span span{};
  std::vector<MeasuredCall> calls{};
};

/// Sets bandwidth and latency of the level, tagged measured, to where the sum of the squares of
/// ln(model / measured) is least. All other figures of the cluster stay. Calls take some time.
void fit_level(cluster::Cluster& cluster, std::size_t level, std::span<const SpannedSeries> series,
               const cluster::Calibration& calibration);

/// A positive figure, rounded: more digits would say more than was measured.
double four_digits(double value);

}  // namespace rankwright::fit
