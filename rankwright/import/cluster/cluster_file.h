// Reads a cluster: a catalog name ("dgx-h100 x 8"), or a map with a device and its levels,
// innermost first, as docs/reference shows. Quantities carry units; a bare bandwidth is an error.
// Where a file is named it may also be one of cluster_format.h.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/cluster/cluster.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

/// The cluster that `node` describes, or nothing and the findings. `files` reads what it names.
std::optional<cluster::Cluster> read_cluster(FieldReader& reader, const YamlNode& node,
                                             const FileReader& files);

/// A whole file.
std::optional<cluster::Cluster> read_cluster_file(std::string_view text, std::string_view file,
                                                  Diagnostics& findings);

/// A file of any format that is read: ours, or one of cluster_format.h alone.
std::optional<cluster::Cluster> read_any_cluster(std::string_view text, std::string_view file,
                                                 Diagnostics& findings);

/// What `--cluster` takes: a catalog name, or a file.
std::optional<cluster::Cluster> read_cluster_argument(const std::string& argument,
                                                      const FileReader& files,
                                                      Diagnostics& findings);

}  // namespace rankwright::importer
