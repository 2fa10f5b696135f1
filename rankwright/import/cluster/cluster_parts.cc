#include "rankwright/import/cluster/cluster_parts.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"

namespace rankwright::importer {

std::string_view name(Tier::Kind kind) {
  constexpr std::string_view kNames[] = {"nvlink", "pcie-switch", "pcie", "socket"};
  return kNames[std::size_t(kind)];
}

void note_contradiction(Diagnostics& findings, std::string_view what, std::string_view file,
                        std::string_view value, std::string_view first_file,
                        std::string_view first_value) {
  findings.push_back({.code = "RW0622",
                      .severity = Severity::warning,
                      .message = "two files disagree",
                      .detail = fmt::format("{}: {} in {}, {} in {}; using the first", what,
                                            first_value, first_file, value, file),
                      .where = {.file = std::string(file)}});
}

std::string show_part(const std::string& value) { return value; }
std::string show_part(i64 value) { return count(value); }
std::string show_part(BytesPerSecond value) { return show(value); }
std::string show_part(const std::vector<i64>& arities) {
  std::string text;
  for (const i64 arity : arities) text += (text.empty() ? "" : " x ") + count(arity);
  return text;
}
std::string show_part(const std::vector<Tier>& tiers) {
  std::string text;
  for (const Tier& tier : tiers)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tier.arity, name(tier.kind));
  return text;
}
std::string show_part(const std::vector<std::string>& names) {
  return plural(i64(names.size()), "host", "hosts");
}
std::string show_part(const NvLinks& links) { return fmt::format("{} NVLinks", links.all); }

}  // namespace rankwright::importer
