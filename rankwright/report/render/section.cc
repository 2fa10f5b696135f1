#include "rankwright/report/render/section.h"

#include <fmt/format.h>

#include "rankwright/report/render/markdown.h"

namespace rankwright::report {
namespace {

constexpr std::size_t kLabel = 12;       // columns of a label including its indent
constexpr std::size_t kPageWidth = 100;  // columns of a drawing in Markdown

std::string render_table(const Section& section, const Paint& paint, std::size_t width) {
  std::string out;
  if (section.drawing)
    out = section.drawing(paint, width);
  else if (section.table.rows.empty())
    return out;
  else
    out = section.label ? format_remarked_table(section.table, paint, "    ", width)
                        : section.table.text(paint, section.indent, width);
  if (!section.note.empty()) out += wrap_text(section.note, width - 2, "  ");
  return out + "\n";
}

std::string render_paragraph(const Section& section, const Paint& paint, std::size_t width) {
  if (section.text.empty()) return {};
  if (section.strong)
    return make_bold(break_lines(section.text, "   ", "", width, "  "), paint) + "\n";
  return wrap_text(section.text, width - 4, "  ") + "\n";
}

}  // namespace

std::string render_labeled_text(std::string_view label, const std::string& text, const Paint& paint,
                                std::size_t width) {
  if (text.empty()) return {};
  const std::string name = "  " + std::string(label);
  return paint.bold(name) + std::string(kLabel - name.size(), ' ') +
         wrap_text(text, width - kLabel, std::string(kLabel, ' ')).substr(kLabel);
}

std::string render_sections_text(std::span<const Section> sections, const Paint& paint,
                                 std::size_t width) {
  std::string out;
  for (const Section& section : sections) {
    if (section.only == Section::Only::markdown) continue;
    if (section.label)
      out += render_labeled_text(*section.label, section.text, paint, width) +
             render_labeled_text("", section.more, paint, width);
    else
      out += render_paragraph(section, paint, width);
    out += render_table(section, paint, width);
  }
  return out;
}

std::string render_sections_markdown(std::span<const Section> sections) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += escape_markdown(text) + "\n\n";
  };
  for (const Section& section : sections) {
    const Table& table = section.wide_table ? *section.wide_table : section.table;
    const bool is_empty = section.text.empty() && table.rows.empty() && !section.fenced;
    if (section.only == Section::Only::terminal || is_empty) continue;
    if (!section.heading.empty()) out += fmt::format("## {}\n\n", section.heading);
    add(section.more.empty() ? section.text : section.text + " " + section.more);
    add(section.caption);
    if (section.fenced)
      out += format_markdown_block("text", section.drawing(Paint{}, kPageWidth)) + "\n";
    else if (!table.rows.empty())
      out += table.markdown() + "\n";
    add(section.note);
  }
  return out;
}

}  // namespace rankwright::report
