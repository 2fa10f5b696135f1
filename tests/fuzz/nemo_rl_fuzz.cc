#include "tests/fuzz/format.h"

int fuzz_nemo_rl(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("nemo-rl", data, size);
}
