#include "tests/fuzz/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("accelerate", data, size);
}
