// Any text is read as hwloc's XML, or refused with findings.
#include "tests/fuzz/cluster_parts.h"

int fuzz_hwloc(const std::uint8_t* data, std::size_t size) {
  rankwright::check_cluster_format("hwloc", rankwright::as_text(data, size));
  return 0;
}
