// Text tables, aligned for a terminal or as Markdown. Cells are plain text, which the caller
// decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// A table with named columns. Every row has one cell per column.
struct Table {
  enum class Align : unsigned char { left, right };
  struct Column {
    std::string name;
    Align align = Align::left;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows{};

  std::string text(const Paint& paint, std::string_view indent = "") const;
  std::string markdown() const;
};
inline constexpr Table::Align kRight = Table::Align::right;

/// Returns the number of characters that a terminal shows. UTF-8 continuation bytes are not
/// counted.
std::size_t display_width(std::string_view text);

/// Breaks text between words into lines of at most `width` characters, each after `indent`.
std::string wrap_text(std::string_view text, std::size_t width, std::string_view indent);

/// Breaks text only at `gap`, which `end` replaces at the end of a line. Falls back to any blank
/// if a part is too long.
std::string break_lines(const std::string& text, std::string_view gap, std::string_view end,
                        std::size_t width, std::string_view indent);

/// Makes lines bold without coloring the indent of the next line. Requires: `lines` ends with a
/// line break.
std::string make_bold(const std::string& lines, const Paint& paint);

/// Formats a table whose last column is prose: text that does not fit into `width` continues on
/// the lines below.
std::string format_remarked_table(const Table& table, const Paint& paint, std::string_view indent,
                                  std::size_t width);

}  // namespace rankwright::report
