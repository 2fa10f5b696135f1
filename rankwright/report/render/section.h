// A report as sections, described once and written as text for a terminal or as Markdown.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "rankwright/report/render/table.h"

namespace rankwright::report {

/// Draws something in characters for a terminal of `width` columns.
using TextDrawing = std::function<std::string(const Paint& paint, std::size_t width)>;

/// A text, a table, or both. Empty parts are left out in both forms.
struct Section {
  enum class Only : unsigned char { both, terminal, markdown };

  std::string heading{};               // in Markdown
  std::optional<std::string> label{};  // beside the text on a terminal, which is then a column
  std::string text{};
  std::string more{};     // continues the text; on a terminal it begins a line of its own
  std::string caption{};  // of the table in Markdown; a drawing has its own
  Table table{};
  std::optional<Table> wide_table{};  // in place of `table` in Markdown, which has no line width
  TextDrawing drawing{};              // in place of the table on a terminal
  bool fenced = false;                // Markdown shows the drawing too, as a code block
  std::string note{};                 // below the table or the drawing
  std::string indent{};               // of the table on a terminal
  bool strong = false;                // the text is one bold line on a terminal
  Only only = Only::both;
};

/// Writes sections with blank lines between them. Sections with a label are a column of texts
/// without blank lines, each table below its text.
std::string render_sections_text(std::span<const Section> sections, const Paint& paint,
                                 std::size_t width);

/// Writes sections below headings of the second level, each part followed by a blank line.
std::string render_sections_markdown(std::span<const Section> sections);

/// Writes a bold label and text that is wrapped in its own column: "  why      The fastest ...".
/// Returns nothing for no text.
std::string render_labeled_text(std::string_view label, const std::string& text, const Paint& paint,
                                std::size_t width);

}  // namespace rankwright::report
