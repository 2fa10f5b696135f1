// The formats of files that describe a cluster, one file and one row each. A reader puts the
// contents into ClusterParts, so that several files make up one cluster. Our own cluster files are
// in cluster_file.h. To add a format, write its file and add its row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/cluster/cluster_parts.h"

namespace rankwright::importer {

/// One format.
struct ClusterFormat {
  std::string_view name;     // value of --from
  std::string_view summary;  // one line of `rankwright import --list`
  std::string_view checked;  // version that it was checked against
  /// Returns whether a file with this name and text has this format. The first row that matches
  /// wins.
  bool (*claims)(std::string_view file, std::string_view text);
  void (*read)(std::string_view text, std::string_view file, ClusterParts& parts,
               Diagnostics& findings);
};

std::span<const ClusterFormat> cluster_formats();
const ClusterFormat* find_cluster_format(std::string_view name);
/// Returns the format that claims the file; nullptr if none does.
const ClusterFormat* find_claiming_format(std::string_view file, std::string_view text);

// The functions of the rows, one file per format.
bool claims_nvidia_smi_topo(std::string_view file, std::string_view text);
void read_nvidia_smi_topo(std::string_view text, std::string_view file, ClusterParts& parts,
                          Diagnostics& findings);
bool claims_nccl_topo(std::string_view file, std::string_view text);
void read_nccl_topo(std::string_view text, std::string_view file, ClusterParts& parts,
                    Diagnostics& findings);
bool claims_hwloc_xml(std::string_view file, std::string_view text);
void read_hwloc_xml(std::string_view text, std::string_view file, ClusterParts& parts,
                    Diagnostics& findings);
bool claims_slurm_topology(std::string_view file, std::string_view text);
void read_slurm_topology(std::string_view text, std::string_view file, ClusterParts& parts,
                         Diagnostics& findings);
bool claims_nccl_tests(std::string_view file, std::string_view text);
void read_nccl_tests(std::string_view text, std::string_view file, ClusterParts& parts,
                     Diagnostics& findings);

/// Returns the collective with this name in nccl-tests, such as "all_reduce"; nothing if it is not
/// modeled.
std::optional<plan::Op> find_collective(std::string_view name);

/// Returns RW0621 at a line and column; line 0 means the whole file.
Diagnostic bad_topology(std::string detail, std::string_view file, int line = 0, int column = 0);

}  // namespace rankwright::importer
