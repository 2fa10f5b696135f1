#include "cli/format_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankwright::cli {

std::string make_format_list(const std::vector<FormatRow>& rows) {
  std::size_t name = 0, summary = 0;
  for (const FormatRow& row : rows) {
    name = std::max(name, row.name.size());
    summary = std::max(summary, row.summary.size());
  }
  std::string text;
  std::string_view group;
  for (const FormatRow& row : rows) {
    if (row.group != group) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", row.group);
    group = row.group;
    text += fmt::format("{}{:<{}}  {:<{}}  {}", group.empty() ? "" : "  ", row.name, name,
                        row.summary, summary, row.checked);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace rankwright::cli
