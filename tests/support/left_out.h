// Matchers of findings for tests of readers: a setting that the estimate does not include, and a
// value that the file does not give.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "rankwright/base/diagnostic.h"

namespace rankwright {

/// Matches findings with an RW0601 whose detail contains `detail`.
inline auto left_out(const std::string& detail) {
  using namespace ::testing;
  return Contains(
      AllOf(Field(&Diagnostic::code, "RW0601"), Field(&Diagnostic::detail, HasSubstr(detail))));
}

/// Matches findings with an RW0615 whose detail contains `detail`.
inline auto assumes(const std::string& detail) {
  using namespace ::testing;
  return Contains(
      AllOf(Field(&Diagnostic::code, "RW0615"), Field(&Diagnostic::detail, HasSubstr(detail))));
}

}  // namespace rankwright
