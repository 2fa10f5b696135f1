#include "rankwright/base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"

namespace rankwright {
namespace {

Diagnostic bad_table(std::string_view file, int line, std::string detail) {
  return {.code = "RW0901",
          .message = "the file cannot be read as CSV",
          .detail = std::move(detail),
          .where = {.file = std::string(file), .line = line, .column = 1}};
}

/// Removes one row from the front of `text` and advances `line` by the lines that it spans.
Result<std::vector<std::string>> take_row(std::string_view& text, std::string_view file,
                                          int& line) {
  const int first_line = line;
  std::vector<std::string> cells(1);
  bool quoted = false;
  bool closed = false;  // the closing quote of this cell was seen
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
        closed = true;
      }
    } else if (c == ',') {
      cells.emplace_back();
      closed = false;
    } else if (c == '\n') {
      break;
    } else if (c == '\r' && (at + 1 == text.size() || text[at + 1] == '\n')) {
      continue;
    } else if (closed) {
      return fail(bad_table(file, first_line, "text follows a closing quote"));
    } else if (c == '"' && cells.back().empty()) {
      quoted = true;
    } else {
      cells.back() += c;
    }
  }
  if (quoted) return fail(bad_table(file, first_line, "a quoted cell has no closing quote"));
  text.remove_prefix(std::min(at + 1, text.size()));
  return cells;
}

void skip_line(std::string_view& text, int& line) {
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  ++line;
}

/// Returns a column name that occurs twice in `header`, if any; unnamed columns may repeat.
std::optional<std::string> find_repeated(std::vector<std::string> header) {
  std::sort(header.begin(), header.end());
  header.erase(header.begin(), std::upper_bound(header.begin(), header.end(), ""));
  const auto found = std::adjacent_find(header.begin(), header.end());
  if (found == header.end()) return std::nullopt;
  return *found;
}

}  // namespace

std::string_view Csv::cell(const Row& row, std::string_view column) const {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found == header.end()) return {};
  return row.cells[std::size_t(found - header.begin())];
}

Result<Csv> parse_csv(std::string_view text, std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Csv table;
  int line = 1;
  while (!text.empty()) {
    if (text.front() == '#') {
      skip_line(text, line);
      continue;
    }
    const int first_line = line;
    Result<std::vector<std::string>> cells = take_row(text, file, line);
    if (!cells) return fail(cells.error());
    if (cells->size() == 1 && cells->front().empty()) continue;
    if (table.header.empty()) {
      if (const std::optional<std::string> name = find_repeated(*cells))
        return fail(bad_table(file, first_line, fmt::format("the header names '{}' twice", *name)));
      table.header = std::move(*cells);
    } else if (cells->size() != table.header.size()) {
      return fail(
          bad_table(file, first_line,
                    fmt::format("{}, but the header has {}",
                                plural(i64(cells->size()), "cell", "cells"), table.header.size())));
    } else {
      table.rows.push_back({first_line, std::move(*cells)});
    }
  }
  if (table.header.empty()) return fail(bad_table(file, 1, "there is no header row"));
  return table;
}

}  // namespace rankwright
