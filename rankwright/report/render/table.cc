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
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\033[")) {
      i = std::min(text.find('m', i), text.size());
      continue;
    }
    width += (static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80u;
  }
  return width;
}

namespace {

constexpr std::string_view kGap = "  ";  // between columns

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

/// The widths of the columns of a table.
struct ColumnWidths {
  std::vector<std::size_t> now{}, min{};

  std::size_t total(std::size_t indent) const {
    std::size_t sum = indent + kGap.size() * (now.size() - 1);
    for (const std::size_t width : now) sum += width;
    return sum;
  }

  /// Narrows the widest column that may be narrower, until the table fits or none may.
  void narrow(std::size_t indent, std::size_t width) {
    while (total(indent) > width) {
      std::size_t widest = now.size();
      for (std::size_t c = 0; c < now.size(); ++c)
        if (now[c] > min[c] && (widest == now.size() || now[c] > now[widest])) widest = c;
      if (widest == now.size()) return;
      --now[widest];
    }
  }
};

ColumnWidths measure_table(const Table& table) {
  ColumnWidths widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    // Figures stay on one line; headings and text may wrap.
    const bool figures = table.columns[c].align == Table::Align::right;
    std::size_t now = display_width(table.columns[c].name);
    std::size_t min = longest_word(table.columns[c].name);
    for (const std::vector<std::string>& row : table.rows) {
      now = std::max(now, display_width(row[c]));
      min = std::max(min, figures ? display_width(row[c]) : longest_word(row[c]));
    }
    widths.now.push_back(now);
    widths.min.push_back(min);
  }
  return widths;
}

std::vector<std::string> split_cell(const std::string& cell, std::size_t width) {
  if (display_width(cell) <= width) return {cell};
  std::vector<std::string> lines;
  const std::string wrapped = wrap_text(cell, width, "");
  for (std::size_t at = 0; at < wrapped.size();) {
    const std::size_t end = wrapped.find('\n', at);
    lines.push_back(wrapped.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Writes the cells of one row, each wrapped inside its column.
std::string write_row(const std::vector<Table::Column>& columns,
                      const std::vector<std::string>& cells, const ColumnWidths& widths,
                      std::string_view indent, const Paint* bold) {
  std::vector<std::vector<std::string>> wrapped;
  std::size_t height = 1;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    wrapped.push_back(split_cell(cells[c], widths.now[c]));
    height = std::max(height, wrapped.back().size());
  }
  std::string out;
  for (std::size_t k = 0; k < height; ++k) {
    std::string line(indent);
    for (std::size_t c = 0; c < columns.size(); ++c)
      line += (c == 0 ? "" : std::string(kGap)) +
              pad(k < wrapped[c].size() ? wrapped[c][k] : "", widths.now[c], columns[c].align);
    trim_end(line);
    out += (bold != nullptr ? bold->bold(line) : line) + "\n";
  }
  return out;
}

Table without_column(Table table, std::size_t column) {
  table.columns.erase(table.columns.begin() + std::ptrdiff_t(column));
  for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + std::ptrdiff_t(column));
  return table;
}

/// Writes each row as a block: its first cell, and below it the other cells with their names.
std::string write_blocks(const Table& table, const Paint& paint, std::string_view indent,
                         std::size_t width) {
  std::size_t label = 0;
  for (std::size_t c = 1; c < table.columns.size(); ++c)
    label = std::max(label, display_width(table.columns[c].name));
  const std::string inner = std::string(indent) + std::string(kGap);
  const std::size_t column = inner.size() + label + kGap.size();
  std::string out;
  for (const std::vector<std::string>& row : table.rows) {
    out +=
        make_bold(wrap_text(row[0].empty() ? "-" : row[0], width - indent.size(), indent), paint);
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      if (row[c].empty()) continue;
      const std::string name = inner + pad(table.columns[c].name, label, Table::Align::left);
      out += name + wrap_text(row[c], width > column ? width - column : 1, std::string(column, ' '))
                        .substr(display_width(name));
    }
  }
  return out;
}

}  // namespace

std::string Table::text(const Paint& paint, std::string_view indent, std::size_t width) const {
  ColumnWidths widths = measure_table(*this);
  widths.narrow(indent.size(), width);
  if (widths.total(indent.size()) > width && columns.size() > 1) {
    const auto last = std::find_if(columns.rbegin(), columns.rend(),
                                   [](const Column& column) { return column.optional; });
    if (last == columns.rend()) return write_blocks(*this, paint, indent, width);
    return without_column(*this, std::size_t(columns.rend() - last) - 1).text(paint, indent, width);
  }
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  std::string out = write_row(columns, names, widths, indent, &paint);
  for (const std::vector<std::string>& row : rows)
    out += write_row(columns, row, widths, indent, nullptr);
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
  constexpr std::size_t kMinRemarkWidth = 36, kRemarkIndent = 4;
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
  const std::size_t column = beside ? before : indent.size() + kRemarkIndent;
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

namespace {

/// Returns the column at which the rest of a line that is too long continues: that of its last
/// column of text, or a little more than its indent.
std::size_t find_hanging_column(std::string_view line, std::size_t width) {
  constexpr double kMaxShare = 0.6;  // of the width, so that room is left
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t hanging = indent + kGap.size(), column = 0;
  bool gap = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xC0u) == 0x80u) continue;
    if (line[i] != ' ' && gap && i > indent && double(column) <= kMaxShare * double(width))
      hanging = column;
    gap = line[i] == ' ' && i > 0 && line[i - 1] == ' ';
    ++column;
  }
  return hanging;
}

/// Returns the last blank before which at most `width` characters stand; npos if there is none
/// after `indent` characters.
std::size_t find_break(std::string_view line, std::size_t width, std::size_t indent) {
  std::size_t found = std::string_view::npos;
  for (std::size_t at = line.find(' ', indent); at != std::string_view::npos;
       at = line.find(' ', at + 1)) {
    if (display_width(line.substr(0, at)) > width) {
      if (found == std::string_view::npos) found = at;  // a word that is too long stays whole
      break;
    }
    found = at;
  }
  return found;
}

}  // namespace

std::string fit_lines(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    const bool ended = end < text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t hanging = find_hanging_column(line, width);
    if (hanging + longest_word(line) > width)  // a long name needs the room
      hanging = std::min(hanging, std::min(line.find_first_not_of(' '), line.size()) + kGap.size());
    std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    while (display_width(line) > width) {
      const std::size_t at = find_break(line, width, indent);
      if (at == std::string::npos) break;
      std::string head = line.substr(0, at);
      trim_end(head);
      const std::size_t rest = line.find_first_not_of(' ', at);
      if (rest == std::string::npos) {
        line = head;
        break;
      }
      out += head + "\n";
      line = std::string(hanging, ' ') + line.substr(rest);
      indent = hanging;
    }
    out += line + (ended ? "\n" : "");
  }
  return out;
}

std::string make_bold(const std::string& lines, const Paint& paint) {
  return paint.bold(lines.substr(0, lines.size() - 1)) + "\n";
}

}  // namespace rankwright::report
