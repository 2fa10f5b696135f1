// Any text is read as what nccl-tests print, or refused with findings.
#include "tests/fuzz/cluster_parts.h"

int fuzz_nccl_tests(const std::uint8_t* data, std::size_t size) {
  rankwright::check_cluster_format("nccl-tests", rankwright::as_text(data, size));
  return 0;
}
