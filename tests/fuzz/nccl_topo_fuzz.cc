// Any text is read as a topology that NCCL dumped, or refused with findings.
#include "tests/fuzz/cluster_parts.h"

int fuzz_nccl_topo(const std::uint8_t* data, std::size_t size) {
  rankwright::check_cluster_format("nccl-topo", rankwright::as_text(data, size));
  return 0;
}
