// Writes clusters: the text of a cluster file, and the map that stands under `cluster` in a plan
// file. What is written is read back equal, to the last bit (import/cluster/cluster_file.h).
#pragma once

#include <string>
#include <vector>

#include "rankwright/cluster/cluster.h"

namespace rankwright::exporter {

/// The lines of a map at `column`, each with a line break before it.
std::string cluster_map(const cluster::Cluster& cluster, std::size_t column);

/// A whole file, with `head` as comments above it. A device is a name where the catalog has it so.
std::string cluster_yaml(const cluster::Cluster& cluster,
                         const std::vector<std::string>& head = {});

}  // namespace rankwright::exporter
