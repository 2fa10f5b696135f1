// libFuzzer's entry: feeds its inputs to the target that the environment names.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

namespace {

constexpr const char* kVariable = "RANKWRIGHT_FUZZ_TARGET";

const rankwright::FuzzTarget& chosen_target() {
  const char* const name = std::getenv(kVariable);
  for (const rankwright::FuzzTarget& target : rankwright::fuzz_targets())
    if (name != nullptr && target.name == name) return target;
  std::fprintf(stderr, "fuzz: %s names no target\n", kVariable);
  for (const rankwright::FuzzTarget& target : rankwright::fuzz_targets())
    std::fprintf(stderr, "  %.*s\n", int(target.name.size()), target.name.data());
  std::exit(64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankwright::FuzzTarget& target = chosen_target();
  return target.run(data, size);
}
