#include <string>

#include "tests/fuzz/format.h"

// Programs for Megatron-Bridge and NeMo: the comment makes any text one of them.
int fuzz_recipe_python(const std::uint8_t* data, std::size_t size) {
  const std::string text = "# megatron.bridge: cfg.train.micro_batch_size = 1\n" +
                           std::string(rankwright::as_text(data, size));
  return rankwright::fuzz_format("megatron", reinterpret_cast<const std::uint8_t*>(text.data()),
                                 text.size(), "fuzz.py");
}
