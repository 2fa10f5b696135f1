#include "tests/fuzz/format.h"

int fuzz_torchtitan_python(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("torchtitan-python", data, size);
}
