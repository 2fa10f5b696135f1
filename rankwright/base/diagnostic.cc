#include "rankwright/base/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace rankwright {

namespace {

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// Returns the map that must be printed with the edited key, such as "job" for "job.sequence".
/// Empty if it is clear from context: the key is directly in `parallelism`, or the diagnostic
/// points into the same map. Nested maps are always printed, because their keys are often absent
/// from the file.
std::string_view map_to_name(std::string_view edit, std::string_view about) {
  const std::size_t dot = edit.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view map = edit.substr(0, dot);
  const bool inner = map.find('.') != std::string_view::npos;
  const bool pointed_into =
      !inner && about.starts_with(map) && about.substr(map.size()).starts_with('.');
  const bool known = map == "parallelism" || pointed_into;
  return known ? std::string_view{} : last_part(map);
}

}  // namespace

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
  std::string_view open;  // the map whose brace is open
  for (const Edit& edit : diagnostic.fix) {
    const std::string_view map = map_to_name(edit.key, diagnostic.key);
    if (!open.empty() && open != map) text += "}";
    if (!text.empty()) text += ", ";
    if (!map.empty() && open != map) text += std::string(map) + ": {";
    text += std::string(last_part(edit.key)) + ": " + edit.value;
    open = map;
  }
  return open.empty() ? text : text + "}";
}

void sort(Diagnostics& diagnostics) {
  std::stable_sort(
      diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
        const bool a_whole = a.where.line == 0, b_whole = b.where.line == 0;
        return std::tie(a.severity, a.where.file, a_whole, a.where.line, a.where.column, a.code) <
               std::tie(b.severity, b.where.file, b_whole, b.where.line, b.where.column, b.code);
      });
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace rankwright
