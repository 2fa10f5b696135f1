// Finds the links that give what was measured: the bandwidth and the latency of the level that a
// group spans, such that the model of collectives (cost/collective.h, with the shipped constants)
// takes the time that was measured. Figures of one machine: nothing is learnt about others.
#pragma once

#include "rankwright/base/diagnostic.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"

namespace rankwright::fit {

/// Sets bandwidth and latency of the outermost level that the series' ranks span, on the first
/// devices of the cluster. RW0625 where the series says nothing of that level, which stays as it
/// is; the same as an error, and false, where the ranks cannot stand on the cluster.
bool calibrate_links(cluster::Cluster& cluster, const MeasuredSeries& series,
                     Diagnostics& findings);

}  // namespace rankwright::fit
