// Writes a cluster as the text of a cluster file, or as the map under `cluster` in a plan file.
// import/cluster/cluster_file.h reads the text back to an equal value, bit for bit.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cluster/cluster.h"

namespace rankwright::exporter {

/// Returns the lines of the cluster's YAML map, indented to `column`, each preceded by a line
/// break.
std::string write_cluster_map(const cluster::Cluster& cluster, std::size_t column);

/// Returns a whole cluster file with `head` as comments at the top. A device that equals its
/// catalog entry is written by name only.
std::string write_cluster_yaml(const cluster::Cluster& cluster,
                               const std::vector<std::string>& head = {});

}  // namespace rankwright::exporter
