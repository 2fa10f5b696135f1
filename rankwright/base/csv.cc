#include "rankwright/base/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankwright {
namespace {

Diagnostic bad_table(std::string_view file, int line, std::string detail) {
  return {.code = "RW0901",
          .message = "the file cannot be read as CSV",
          .detail = std::move(detail),
          .where = {.file = std::string(file), .line = line, .column = 1}};
}

/// Takes one row off the front of `text` and counts the lines that it spans.
Result<std::vector<std::string>> take_row(std::string_view& text, std::string_view file,
                                          int& line) {
  const int first_line = line;
  std::vector<std::string> cells(1);
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        cells.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        cells.back() += '"';
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"' && cells.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  if (quoted) return fail(bad_table(file, first_line, "a quoted cell has no closing quote"));
  text.remove_prefix(std::min(at + 1, text.size()));
  return cells;
}

}  // namespace

std::string_view Csv::cell(const Row& row, std::string_view column) const {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found == header.end()) return {};
  return row.cells[std::size_t(found - header.begin())];
}

Result<Csv> parse_csv(std::string_view text, std::string_view file) {
  Csv table;
  int line = 1;
  while (!text.empty()) {
    const int first_line = line;
    const bool comment = text.front() == '#';
    Result<std::vector<std::string>> cells = take_row(text, file, line);
    if (!cells) return fail(cells.error());
    if (comment || (cells->size() == 1 && cells->front().empty())) continue;
    if (table.header.empty()) {
      table.header = std::move(*cells);
    } else if (cells->size() != table.header.size()) {
      return fail(bad_table(
          file, first_line,
          fmt::format("{} cells, but the header has {}", cells->size(), table.header.size())));
    } else {
      table.rows.push_back({first_line, std::move(*cells)});
    }
  }
  if (table.header.empty()) return fail(bad_table(file, 1, "there is no header row"));
  return table;
}

}  // namespace rankwright
