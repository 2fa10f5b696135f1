#include "tests/fuzz/format.h"

int fuzz_gpt_neox(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("gpt-neox", data, size);
}
