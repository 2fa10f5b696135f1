#include "tests/fuzz/format.h"

int fuzz_fine_tuning(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("fine-tuning", data, size);
}
