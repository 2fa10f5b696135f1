// What a Setup has for each key of a plan file, as it is typed there, and in which keys two Setups
// differ. Reading keys is import/plan_keys.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright {

/// One row a key that something is computed from, in the order of the plan file's keys.
struct SetupKey {
  std::string_view path;  // "parallelism.zero_stage"
  std::string (*value)(const Setup&);
  /// Where the text does not say all: whether two setups are alike, and more words.
  bool (*alike)(const Setup&, const Setup&) = nullptr;
  std::string (*details)(const Setup&) = nullptr;
};
std::span<const SetupKey> setup_keys();

/// A key with the values of two setups; assumed: the setup's file left it open.
struct KeyDifference {
  std::string_view key;
  std::string a, b;
  bool a_assumed = false, b_assumed = false;
};
std::vector<KeyDifference> key_differences(const Setup& a, const Setup& b);

}  // namespace rankwright
