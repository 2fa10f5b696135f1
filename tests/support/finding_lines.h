// Formats findings for tests, one per line: what is wrong, where, and the fix.
#pragma once

#include <fmt/format.h>

#include <string>

#include "rankwright/base/diagnostic.h"

namespace rankwright {

/// Formats one finding: "RW0904 3:12 0 is less than 1".
inline std::string format_findings(const Diagnostic& finding) {
  return fmt::format("{} {}:{} {}", finding.code, finding.where.line, finding.where.column,
                     finding.detail);
}

inline std::string format_findings(const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings)
    text += format_findings(finding) + (finding.hint.empty() ? "" : "; " + finding.hint) + "\n";
  return text;
}

}  // namespace rankwright
