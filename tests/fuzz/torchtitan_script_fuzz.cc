#include "tests/fuzz/format.h"

int fuzz_torchtitan_script(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("torchtitan-script", data, size, "fuzz.sh");
}
