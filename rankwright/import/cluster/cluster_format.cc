#include "rankwright/import/cluster/cluster_format.h"

#include <algorithm>

namespace rankwright::importer {
namespace {

constexpr ClusterFormat kClusterFormats[] = {
    {"nvidia-smi-topo", "output of nvidia-smi topo -m", "output from 2017 to 2026",
     claims_nvidia_smi_topo, read_nvidia_smi_topo},
    {"nccl-topo", "NCCL topology (NCCL_TOPO_DUMP_FILE)", "NCCL of 2026", claims_nccl_topo,
     read_nccl_topo},
    {"hwloc", "hwloc XML (lstopo --of xml)", "hwloc 2", claims_hwloc_xml, read_hwloc_xml},
    {"slurm-topology", "Slurm topology.conf or topology.yaml", "Slurm 25.05", claims_slurm_topology,
     read_slurm_topology},
    {"nccl-tests", "output of nccl-tests (all_reduce_perf, ...)", "nccl-tests 2.20",
     claims_nccl_tests, read_nccl_tests},
};

}  // namespace

std::span<const ClusterFormat> cluster_formats() { return kClusterFormats; }

const ClusterFormat* find_cluster_format(std::string_view name) {
  const auto found = std::find_if(std::begin(kClusterFormats), std::end(kClusterFormats),
                                  [&](const ClusterFormat& one) { return one.name == name; });
  return found == std::end(kClusterFormats) ? nullptr : found;
}

const ClusterFormat* find_claiming_format(std::string_view file, std::string_view text) {
  const auto found = std::find_if(std::begin(kClusterFormats), std::end(kClusterFormats),
                                  [&](const ClusterFormat& one) { return one.claims(file, text); });
  return found == std::end(kClusterFormats) ? nullptr : found;
}

Diagnostic bad_topology(std::string detail, std::string_view file, int line, int column) {
  return {.code = "RW0621",
          .message = "invalid topology file",
          .detail = std::move(detail),
          .where = {.file = std::string(file), .line = line, .column = column}};
}

}  // namespace rankwright::importer
