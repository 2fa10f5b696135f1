#include "tests/fuzz/format.h"

int fuzz_maxtext_script(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("maxtext", data, size, "fuzz.sh");
}
