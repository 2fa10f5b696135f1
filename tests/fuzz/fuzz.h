// Included by every fuzz target: its input as text, and the checks of a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rankwright/base/check.h"
#include "rankwright/base/diagnostic.h"

namespace rankwright {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Checks a finding about a file: it has a code and a message, and its location is valid.
inline void check_finding(const Diagnostic& finding) {
  RW_CHECK(finding.code.size() == 6 && finding.code.starts_with("RW0"));
  RW_CHECK(!finding.message.empty());
  RW_CHECK(finding.where.line >= 0 && finding.where.column >= 0 && finding.where.width >= 1);
}

}  // namespace rankwright
