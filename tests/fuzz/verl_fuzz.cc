#include "tests/fuzz/format.h"

int fuzz_verl(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("verl", data, size);
}
