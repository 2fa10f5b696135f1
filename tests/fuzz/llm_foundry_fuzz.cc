#include "tests/fuzz/format.h"

int fuzz_llm_foundry(const std::uint8_t* data, std::size_t size) {
  return rankwright::fuzz_format("llm-foundry", data, size);
}
