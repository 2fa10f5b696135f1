#include "rankwright/base/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace rankwright {

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "note";
}

std::string help(const Diagnostic& diagnostic) {
  if (diagnostic.fix.empty()) return diagnostic.hint;
  std::string text;
  for (const Edit& edit : diagnostic.fix) {
    if (!text.empty()) text += ", ";
    // The last part of the path is what one types on the line: "parallelism.dp_size" -> "dp_size".
    text += edit.key.substr(edit.key.rfind('.') + 1) + ": " + edit.value;
  }
  return text;
}

void sort(Diagnostics& diagnostics) {
  std::stable_sort(
      diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.severity, a.where.file, a.where.line, a.where.column, a.code) <
               std::tie(b.severity, b.where.file, b.where.line, b.where.column, b.code);
      });
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace rankwright
