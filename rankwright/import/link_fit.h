// Finds the links that give what was measured: the bandwidth and the latency of the level that a
// group spans, such that the model of collectives (cost/collective.h, with the shipped constants)
// takes the time that was measured. Figures of one machine: nothing is learnt about others.
#pragma once

#include "rankwright/base/diagnostic.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/import/measured_series.h"

namespace rankwright {

/// Sets bandwidth and latency of the outermost level that the series' ranks span, on the first
/// devices of the cluster. RW0625 where the series does not fit the cluster, or says nothing of
/// that level; false then if nothing could be set.
bool calibrate_links(Cluster& cluster, const MeasuredSeries& series, Diagnostics& findings);

}  // namespace rankwright
