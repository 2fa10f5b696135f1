// The measurements of a probe as text and as JSON, each call beside the model's prediction for the
// fitted cluster. export/cluster_file.h writes the cluster file itself.
#pragma once

#include <string>

#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/probed.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

std::string render_probe_text(const fit::ProbeFigures& probe, const cluster::Cluster& cluster,
                              const Paint& paint);

/// Writes one JSON object with every measured series.
std::string make_probe_json(const fit::ProbeFigures& probe, const cluster::Cluster& cluster);

/// Returns the comments at the top of the cluster file: the hosts and the number of ranks.
std::vector<std::string> list_probe_comments(const fit::ProbeFigures& probe);

}  // namespace rankwright::report
