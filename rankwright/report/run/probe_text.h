// A probe as people and programs read it: what was measured, and beside every call what the model
// says on the cluster that was fitted. The cluster file itself is export/cluster_file.h.
#pragma once

#include <string>

#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/probed.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string probe_text(const fit::ProbeFigures& probe, const cluster::Cluster& cluster,
                       const Paint& paint);

/// One object, with every series as it was measured.
std::string probe_json(const fit::ProbeFigures& probe, const cluster::Cluster& cluster);

/// The comments above the cluster file: which hosts, how many ranks on each.
std::vector<std::string> probe_head(const fit::ProbeFigures& probe);

}  // namespace rankwright::report
