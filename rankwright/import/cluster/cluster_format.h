// The formats that files about a cluster come in, one file and one row each. A reader puts what the
// file says into ClusterParts, so that several files make one cluster. Our own cluster files are
// cluster_file.h. To add a format, write its file and add its row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/cluster/cluster_parts.h"

namespace rankwright::importer {

struct ClusterFormat {
  std::string_view name;     // what --from takes
  std::string_view summary;  // one line of `rankwright import --list`
  std::string_view checked;  // the version that it was checked against
  /// Whether a file of this name with this text is one. The first row that says so is taken.
  bool (*claims)(std::string_view file, std::string_view text);
  void (*read)(std::string_view text, std::string_view file, ClusterParts& parts,
               Diagnostics& findings);
};

std::span<const ClusterFormat> cluster_formats();
const ClusterFormat* find_cluster_format(std::string_view name);
/// Nothing where no format claims the file.
const ClusterFormat* claiming_cluster_format(std::string_view file, std::string_view text);

// The rows' functions, one file a format.
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

/// "all_reduce", as nccl-tests spell it; nothing where it is not modelled.
std::optional<plan::Op> collective_named(std::string_view name);

/// A fault of such a file: RW0621, at a line and column; line 0 is the whole file.
Diagnostic bad_topology(std::string detail, std::string_view file, int line = 0, int column = 0);

}  // namespace rankwright::importer
