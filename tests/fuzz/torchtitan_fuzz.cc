#include "tests/fuzz/format.h"

int fuzz_torchtitan(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("torchtitan-0.2", data, size);
}
