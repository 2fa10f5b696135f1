// Fits the bandwidth and the latency of one level to everything measured on it, so that the model
// of collectives (cost/collective.h) is closest to all calls of all kinds. link_fit.h does this for
// a single series of GPU collectives, with the shipped constants.
#pragma once

#include <span>
#include <vector>

#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"
#include "rankwright/mesh/placement.h"

namespace rankwright::fit {

/// Measured calls of one kind, made at the same time by all groups that span the cluster as `span`
/// says.
struct SpannedSeries {
  plan::Op op{};
  mesh::Span span{};
  std::vector<MeasuredCall> calls{};
};

/// Sets the level's bandwidth and latency, marked as measured, to the values that minimize the sum
/// of squares of ln(model / measured). Everything else in the cluster is unchanged. Requires: the
/// times of all calls are positive.
void fit_level(cluster::Cluster& cluster, std::size_t level, std::span<const SpannedSeries> series,
               const cluster::Calibration& calibration);

/// Rounds a positive value to four significant digits: more would overstate the precision of a
/// measurement.
double round_to_four_digits(double value);

}  // namespace rankwright::fit
