#include <string>

#include "tests/fuzz/format.h"

// Programs of Hugging Face's Trainer: the class at the end makes any text one of them.
int fuzz_trainer_program(const std::uint8_t* data, std::size_t size) {
  const std::string text = std::string(rankwright::as_text(data, size)) +
                           "\nargs = TrainingArguments(per_device_train_batch_size=2)\n";
  return rankwright::fuzz_format("fine-tuning", reinterpret_cast<const std::uint8_t*>(text.data()),
                                 text.size(), "fuzz.py");
}
