#include "tests/fuzz/format.h"

int fuzz_automodel(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("automodel", data, size);
}
