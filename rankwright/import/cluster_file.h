// Reads a cluster: a catalog name ("dgx-h100 x 8"), or a map with a device and its levels,
// innermost first, as docs/reference shows. Quantities carry units; a bare bandwidth is an error.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/cluster/cluster.h"
#include "rankwright/import/fields.h"
#include "rankwright/import/file.h"

namespace rankwright {

/// The cluster that `node` describes, or nothing and the findings. `files` reads what it names.
std::optional<Cluster> read_cluster(FieldReader& reader, const YamlNode& node, FileReader files);

/// A whole file.
std::optional<Cluster> read_cluster_file(std::string_view text, std::string_view file,
                                         Diagnostics& findings);

/// What `--cluster` takes: a file that ends in .yaml or .yml, else a catalog name.
std::optional<Cluster> read_cluster_argument(const std::string& argument, FileReader files,
                                             Diagnostics& findings);

}  // namespace rankwright
