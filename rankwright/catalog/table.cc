#include "rankwright/catalog/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/suggest.h"

namespace rankwright::catalog {
namespace {

constexpr std::size_t kMaxQuoted = 60;  // maximum length of a user's word in a message

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    if (end > 0) items.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

Diagnostic unknown_name(std::string_view kind, std::string_view name,
                        const std::vector<std::string>& known) {
  const std::optional<std::string> near = nearest(lower(name), known);
  const std::string list = fmt::format("rankwright catalog {}s", kind);
  return {.code = "RW0908",
          .message = "unknown name",
          .detail = fmt::format("no {} is named '{}'", kind, name.substr(0, kMaxQuoted)),
          .hint = near ? fmt::format("did you mean {}? ({})", *near, list)
                       : fmt::format("`{}` lists the known names", list)};
}

}  // namespace rankwright::catalog
