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
    bool optional = false;  // left out of a table that would be too wide
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows{};

  /// Aligns the cells in columns. If the lines would be longer than `width`, text wraps between
  /// words inside its column; if that is not enough, optional columns are left out, and at last
  /// each row becomes a block of labeled lines.
  std::string text(const Paint& paint, std::string_view indent = "",
                   std::size_t width = std::string::npos) const;
  std::string markdown() const;
};
inline constexpr Table::Align kRight = Table::Align::right;

/// Returns the number of characters that a terminal shows. UTF-8 continuation bytes and color
/// codes are not counted.
std::size_t display_width(std::string_view text);

/// Breaks text between words into lines of at most `width` characters, each after `indent`.
std::string wrap_text(std::string_view text, std::size_t width, std::string_view indent);

/// Breaks text only at `gap`, which `end` replaces at the end of a line. Falls back to any blank
/// if a part is too long.
std::string break_lines(const std::string& text, std::string_view gap, std::string_view end,
                        std::size_t width, std::string_view indent);

/// Breaks every line that is longer than `width` between words. The rest continues below the last
/// column of the line, or indented. Words are never cut: a word that is too long stays whole.
std::string fit_lines(std::string_view text, std::size_t width);

/// Makes lines bold without coloring the indent of the next line. Requires: `lines` ends with a
/// line break.
std::string make_bold(const std::string& lines, const Paint& paint);

/// Formats a table whose last column is prose: text that does not fit into `width` continues on
/// the lines below.
std::string format_remarked_table(const Table& table, const Paint& paint, std::string_view indent,
                                  std::size_t width);

}  // namespace rankwright::report
