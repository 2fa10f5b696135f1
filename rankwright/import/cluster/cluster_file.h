// Reads a cluster: a catalog name ("dgx-h100 x 8"), or a map with a device and its levels,
// innermost first, as docs/reference shows. Quantities need units; a bandwidth without one is an
// error. A named file may also have one of the formats of cluster_format.h.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/cluster/cluster.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

/// Returns the cluster that `node` describes, or nothing and findings. `files` reads the files that
/// it names.
std::optional<cluster::Cluster> read_cluster(FieldReader& reader, const YamlNode& node,
                                             const FileReader& files);

/// Reads a whole cluster file.
std::optional<cluster::Cluster> read_cluster_file(std::string_view text, std::string_view file,
                                                  Diagnostics& findings);

/// Reads a file of any supported format: a cluster file, or a single file of cluster_format.h.
std::optional<cluster::Cluster> read_any_cluster(std::string_view text, std::string_view file,
                                                 Diagnostics& findings);

/// Reads the value of `--cluster`: a catalog name or a file.
std::optional<cluster::Cluster> read_cluster_argument(const std::string& argument,
                                                      const FileReader& files,
                                                      Diagnostics& findings);

}  // namespace rankwright::importer
