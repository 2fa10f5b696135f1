// The readers that are fuzzed. All of them are in one program, so that it is linked once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rankwright {

struct FuzzTarget {
  std::string_view name;  // of its corpus, and of NAME_fuzz.cc
  int (*run)(const std::uint8_t* data, std::size_t size);
};

std::span<const FuzzTarget> fuzz_targets();

}  // namespace rankwright
