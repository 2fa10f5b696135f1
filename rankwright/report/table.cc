#include "rankwright/report/table.h"

#include <algorithm>

namespace rankwright {
namespace {

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  return align == Table::Align::left ? cell + blanks : blanks + cell;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

/// '|' would end a Markdown cell.
std::string escaped(const std::string& cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  }));
}

std::string Table::text(const Paint& paint, std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = display_width(columns[c].name);
    for (const std::vector<std::string>& row : rows) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  const auto line = [&](auto cell) {
    std::string text(indent);
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += (c == 0 ? "" : "  ") + padded(cell(c), widths[c], columns[c].align);
    trim_end(text);
    return text;
  };
  std::string out = paint.bold(line([&](std::size_t c) { return columns[c].name; })) + "\n";
  for (const std::vector<std::string>& row : rows)
    out += line([&](std::size_t c) { return row[c]; }) + "\n";
  return out;
}

std::string Table::markdown() const {
  std::string head = "|", rule = "|", body;
  for (const Column& column : columns) {
    head += " " + escaped(column.name) + " |";
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  for (const std::vector<std::string>& row : rows) {
    body += "|";
    for (const std::string& cell : row) body += " " + escaped(cell) + " |";
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += std::string(indent) + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) flush();
    if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  flush();
  return out;
}

}  // namespace rankwright
