// Any text is read as Slurm's topology.conf, or refused with findings.
#include "tests/fuzz/cluster_parts.h"

int fuzz_slurm_topology(const std::uint8_t* data, std::size_t size) {
  rankwright::check_cluster_format("slurm-topology", rankwright::as_text(data, size));
  return 0;
}
