// Fits a link to a measured series: the bandwidth and the latency of the level that a group spans,
// so that the model of collectives (cost/collective.h, with the shipped constants) predicts the
// measured times. The result is valid for this machine only.
#pragma once

#include "rankwright/base/diagnostic.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"

namespace rankwright::fit {

/// Sets bandwidth and latency of the outermost level that the series' ranks span when they are
/// placed on the first devices of the cluster. If the series does not determine that level, adds
/// the warning RW0625 and leaves the level unchanged. If the ranks do not fit on the cluster, adds
/// RW0625 as an error and returns false.
bool calibrate_links(cluster::Cluster& cluster, const MeasuredSeries& series,
                     Diagnostics& findings);

}  // namespace rankwright::fit
