// Any text is read as what nvidia-smi topo -m prints, or refused with findings.
#include "tests/fuzz/cluster_parts.h"

int fuzz_nvidia_smi(const std::uint8_t* data, std::size_t size) {
  rankwright::check_cluster_format("nvidia-smi-topo", rankwright::as_text(data, size));
  return 0;
}
