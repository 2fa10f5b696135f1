// What `import --list` and `export --list` print: formats in groups, each with what it is and the
// version that it was checked against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankwright::cli {

struct FormatRow {
  std::string_view group;  // those of one group follow each other; empty: no groups
  std::string_view name;
  std::string_view summary;
  std::string_view checked;
};

std::string format_list(const std::vector<FormatRow>& rows);

}  // namespace rankwright::cli
