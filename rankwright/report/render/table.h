// Tables of text: columns that line up on a terminal, or Markdown. Cells are plain text; what they
// say is decided by the caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/render/paint.h"

namespace rankwright::report {

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

/// Characters that a terminal shows, not bytes: UTF-8 continuation bytes are not counted.
std::size_t display_width(std::string_view text);

/// Breaks words so that no line is longer than `width`, each line after `indent`.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent);

/// `text` in lines that break only at `gap`, which is then `end`; at any blank where that is not
/// enough.
std::string lines_of(const std::string& text, std::string_view gap, std::string_view end,
                     std::size_t width, std::string_view indent);

/// Bold lines whose color does not reach into the indent of what follows. Requires: `lines` ends in
/// a line break.
std::string bold_lines(const std::string& lines, const Paint& paint);

/// A table whose last column is words: what does not fit into `width` goes on below.
std::string remarked(const Table& table, const Paint& paint, std::string_view indent,
                     std::size_t width);

}  // namespace rankwright::report
