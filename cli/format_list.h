// The text of `import --list` and `export --list`: formats by group, each with its summary and the
// version that it was checked against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankwright::cli {

/// One format of the list.
struct FormatRow {
  std::string_view group;  // rows of one group are adjacent; empty: no groups
  std::string_view name;
  std::string_view summary;
  std::string_view checked;  // version of the framework
};

/// Returns the list as text.
std::string make_format_list(const std::vector<FormatRow>& rows);

}  // namespace rankwright::cli
