#include "tests/fuzz/format.h"

int fuzz_nanotron(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("nanotron", data, size);
}
