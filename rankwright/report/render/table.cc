#include "rankwright/report/render/table.h"

#include <algorithm>
#include <utility>

#include "rankwright/report/render/markdown.h"

namespace rankwright::report {
namespace {

std::string pad(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  return align == Table::Align::left ? cell + blanks : blanks + cell;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

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
      text += (c == 0 ? "" : "  ") + pad(cell(c), widths[c], columns[c].align);
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
    head += " " + escape_markdown(column.name) + " |";
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  for (const std::vector<std::string>& row : rows) {
    body += "|";
    for (const std::string& cell : row) body += " " + escape_markdown(cell) + " |";
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string wrap_text(std::string_view text, std::size_t width, std::string_view indent) {
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

std::string break_lines(const std::string& text, std::string_view gap, std::string_view end,
                        std::size_t width, std::string_view indent) {
  std::string out, line;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t stop = std::min(text.find(gap, at), text.size());
    const std::string part = text.substr(at, stop - at);
    if (indent.size() + display_width(part) + display_width(end) > width)
      return wrap_text(text, width - indent.size(), indent);
    const std::size_t behind = stop == text.size() ? 0 : display_width(end);
    const std::size_t length =
        indent.size() + display_width(line) + display_width(gap) + display_width(part) + behind;
    if (!line.empty() && length > width)
      out += std::string(indent) + std::exchange(line, "") + std::string(end) + "\n";
    else if (!line.empty())
      line += gap;
    line += part;
    at = stop + gap.size();
  }
  return out + std::string(indent) + line + "\n";
}

std::string format_remarked_table(const Table& table, const Paint& paint, std::string_view indent,
                                  std::size_t width) {
  constexpr std::size_t kMinRemarkWidth = 36, kBelow = 4;
  const std::size_t last = table.columns.size() - 1;
  Table figures{table.columns};
  figures.columns.back().name.clear();
  for (std::vector<std::string> row : table.rows) {
    row.back().clear();
    figures.rows.push_back(std::move(row));
  }
  std::size_t before = indent.size();
  for (std::size_t c = 0; c < last; ++c) {
    std::size_t widest = display_width(table.columns[c].name);
    for (const std::vector<std::string>& row : table.rows)
      widest = std::max(widest, display_width(row[c]));
    before += widest + 2;
  }
  const bool beside = before + kMinRemarkWidth <= width;
  const std::size_t column = beside ? before : indent.size() + kBelow;
  const std::string blanks(column, ' ');
  const std::string lines = figures.text({}, indent);
  std::string out;
  std::size_t at = 0;
  for (std::size_t r = 0; at < lines.size(); ++r) {
    const std::size_t end = lines.find('\n', at);
    std::string line = lines.substr(at, end - at);
    at = end + 1;
    const std::string& words = r == 0 ? table.columns[last].name : table.rows[r - 1][last];
    const bool heads = r == 0;
    if (words.empty() || (heads && !beside)) {
      out += (heads ? paint.bold(line) : line) + "\n";
      continue;
    }
    const std::string remark =
        wrap_text(words, width > column ? width - column : kMinRemarkWidth, blanks);
    if (!beside) {
      out += line + "\n" + remark;
    } else {
      std::string text = line + remark.substr(display_width(line));
      if (heads) text = paint.bold(text.substr(0, text.size() - 1)) + "\n";
      out += text;
    }
  }
  return out;
}

std::string make_bold(const std::string& lines, const Paint& paint) {
  return paint.bold(lines.substr(0, lines.size() - 1)) + "\n";
}

}  // namespace rankwright::report
