#include "tests/fuzz/format.h"

int fuzz_openrlhf(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("openrlhf", data, size);
}
