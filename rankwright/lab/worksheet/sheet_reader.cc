#include "rankwright/lab/worksheet/sheet_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/base/trim.h"
#include "rankwright/lab/worksheet/words.h"

namespace rankwright::lab {
namespace sheet_reader_impl {
namespace {

constexpr std::string_view kHint = "start with rankwright lab worksheet --blank";

/// Returns a label without blanks, so that "all-reduce" and "allreduce" are equal.
std::string squeeze(std::string_view label) {
  std::string text = normalize_answer(label);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

/// Returns whether a heading is this title or one of its other names, which '|' separates.
bool is_heading(std::string_view heading, std::string_view title, std::string_view also) {
  const std::string given = squeeze(heading);
  if (given == squeeze(title)) return true;
  while (!also.empty()) {
    const std::size_t end = std::min(also.find('|'), also.size());
    if (given == squeeze(also.substr(0, end))) return true;
    also.remove_prefix(std::min(end + 1, also.size()));
  }
  return false;
}

/// Other labels of rows. Those of communication are only spelled as in the blank worksheet.
struct RowAlias {
  std::string_view label, also;
};
constexpr RowAlias kAliases[] = {
    {"TP", "tensor|tensor parallel|tensor parallelism|tensor parallelism (tp)"},
    {"PP", "pipeline|pipeline parallel|pipeline parallelism|pipeline parallelism (pp)"},
    {"DP", "data|data parallel|data parallelism|data parallelism (dp)|ddp"},
    {"FSDP/ZeRO", "fsdp|zero|zero/fsdp|fsdp or zero|fsdp2"},
    {"SP", "sequence|sequence parallel|sequence parallelism"},
    {"CP", "context|context parallel|context parallelism"},
    {"EP", "expert|expert parallel|expert parallelism"},
    {"parameters", "params|weights|parameter"},
    {"gradients", "grads|gradient"},
    {"optimizer", "optimizer states|optimizer state|optimiser"},
    {"activations", "activation"},
    {"batch", "batches|samples|data"},
};

std::string_view find_aliases(std::string_view label) {
  for (const RowAlias& alias : kAliases)
    if (alias.label == label) return alias.also;
  return {};
}

/// Returns whether a row consists of rules: |---|:---:|.
bool is_rule(const std::vector<std::string>& cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("-:") == std::string::npos;
  });
}

/// The columns of a table of the file.
struct Heading {
  SheetTable table;
  std::vector<std::optional<SheetColumn>> columns{};  // by cell, without the first
};

/// Recognizes the heading of a table of the worksheet: by the heading of its first column, or by
/// two of the others.
std::optional<Heading> recognize(const std::vector<std::string>& cells) {
  if (cells.size() < 2) return {};
  for (const SheetTableRow& table : sheet_tables()) {
    Heading heading{.table = table.table};
    std::size_t known = 0;
    for (std::size_t k = 1; k < cells.size(); ++k) {
      heading.columns.emplace_back();
      for (const SheetColumnRow& column : sheet_columns())
        if (column.table == table.table && is_heading(cells[k], column.title, column.also))
          heading.columns.back() = column.column;
      known += heading.columns.back().has_value();
    }
    if (known >= 2 || (known >= 1 && is_heading(cells[0], table.key, table.also))) return heading;
  }
  return {};
}

class SheetReader {
 public:
  explicit SheetReader(GivenSheet& sheet) : sheet_(sheet) {
    sheet_.row_line.assign(sheet_.rows.size(), 0);
  }

  void read() {
    std::string_view rest = sheet_.text;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    for (line_ = 1; !rest.empty() && !has_errors(sheet_.findings); ++line_) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      read_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

 private:
  void report(Diagnostic finding) {
    finding.where = {.file = sheet_.name, .line = line_, .column = 1};
    sheet_.findings.push_back(std::move(finding));
  }

  void read_line(std::string_view line) {
    line = trim(line);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      fenced_ = !fenced_;
      heading_.reset();
      return;
    }
    if (fenced_) return;
    if (line.find('|') == std::string_view::npos) {
      heading_.reset();  // a table ends
      return;
    }
    const std::vector<std::string> cells = split_markdown_row(line);
    for (const std::string& cell : cells)
      if (cell.size() > kMaxCellBytes) {
        report({.code = "RW0906",
                .message = "the file is too large or too deeply nested",
                .detail = fmt::format("a cell of {} bytes; at most {} are read",
                                      count(i64(cell.size())), count(i64(kMaxCellBytes))),
                .hint = "write one sentence per cell"});
        return;
      }
    if (!heading_)
      begin_table(cells);
    else if (!is_rule(cells))
      read_row(cells);
  }

  void begin_table(const std::vector<std::string>& cells) {
    std::optional<Heading> heading = recognize(cells);
    if (!heading) return;
    int& line = sheet_.table_line[std::size_t(heading->table)];
    if (line != 0) {
      report(
          {.code = "RW0905",
           .message = "duplicate key",
           .detail = fmt::format("table '{}' is also at line {}", row(heading->table).title, line),
           .hint = "keep one of the two tables"});
      return;
    }
    line = line_;
    for (std::size_t k = 0; k < heading->columns.size(); ++k)
      if (const std::optional<SheetColumn> column = heading->columns[k])
        if (!sheet_.column_line.emplace(*column, line_).second) heading->columns[k].reset();
    heading_ = std::move(heading);
    rows_ = 0;
  }

  /// Returns the index of the row with this label in the current table.
  std::optional<std::size_t> find_row(const std::string& label) const {
    for (std::size_t k = 0; k < sheet_.rows.size(); ++k)
      if (sheet_.rows[k].table == heading_->table &&
          is_heading(label, sheet_.rows[k].label, find_aliases(sheet_.rows[k].label)))
        return k;
    return {};
  }

  void report_unknown_row(const std::string& label) {
    std::vector<std::string> known;
    for (const SheetRow& one : sheet_.rows)
      if (one.table == heading_->table) known.push_back(one.label);
    const std::optional<std::string> near = nearest(label, known);
    report({.code = "RW0902",
            .severity = Severity::warning,
            .message = "unknown key, ignored",
            .detail = fmt::format("the plan has no row '{}' in table '{}'", make_excerpt(label),
                                  row(heading_->table).title),
            .hint = near ? fmt::format("did you mean '{}'?", *near) : std::string(kHint)});
  }

  void read_row(const std::vector<std::string>& cells) {
    if (++rows_ > kMaxTableRows) {
      report({.code = "RW0906",
              .message = "the file is too large or too deeply nested",
              .detail = fmt::format("a table of more than {} rows", kMaxTableRows),
              .hint = std::string(kHint)});
      return;
    }
    if (cells.empty() || squeeze(cells[0]).empty()) return;
    const std::optional<std::size_t> found = find_row(cells[0]);
    if (!found) return report_unknown_row(cells[0]);
    if (sheet_.row_line[*found] != 0) {
      report({.code = "RW0905",
              .message = "duplicate key",
              .detail = fmt::format("row '{}' is also at line {}", sheet_.rows[*found].label,
                                    sheet_.row_line[*found]),
              .hint = "keep one of the two rows"});
      return;
    }
    sheet_.row_line[*found] = line_;
    for (std::size_t k = 1; k < cells.size() && k <= heading_->columns.size(); ++k)
      if (const std::optional<SheetColumn> column = heading_->columns[k - 1])
        sheet_.cells[{*found, *column}] = cells[k];
    if (cells.size() > heading_->columns.size() + 1)
      report({.code = "RW0902",
              .severity = Severity::warning,
              .message = "unknown key, ignored",
              .detail = fmt::format("row '{}' has {} cells, but its table has {} columns",
                                    sheet_.rows[*found].label, cells.size(),
                                    heading_->columns.size() + 1),
              .hint = "write \\| for a pipe inside a cell"});
  }

  GivenSheet& sheet_;
  std::optional<Heading> heading_{};  // of the table that is being read
  std::size_t rows_ = 0;
  int line_ = 0;
  bool fenced_ = false;
};

/// Reports a file without any table of the worksheet.
void check_tables(GivenSheet& sheet) {
  if (has_errors(sheet.findings)) return;
  if (std::any_of(std::begin(sheet.table_line), std::end(sheet.table_line),
                  [](int line) { return line != 0; }))
    return;
  std::string keys;
  for (const SheetTableRow& table : sheet_tables())
    keys += fmt::format("{}'{}'", keys.empty() ? "" : ", ", table.key);
  sheet.findings.push_back({.code = "RW0933",
                            .message = "these answers are not for this lab",
                            .detail = "no table of a worksheet: none begins with a column " + keys,
                            .hint = std::string(kHint),
                            .where = {.file = sheet.name}});
}

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

}  // namespace
}  // namespace sheet_reader_impl

std::vector<std::string> split_markdown_row(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const bool escapes =
        line[k] == '\\' && k + 1 < line.size() && sheet_reader_impl::is_punctuation(line[k + 1]);
    if (escapes) {
      cell += line[++k];
    } else if (line[k] == '|') {
      cells.emplace_back(trim(cell));
      cell.clear();
    } else {
      cell += line[k];
    }
  }
  if (!trim(cell).empty()) cells.emplace_back(trim(cell));
  const bool opened = trim(line).starts_with('|');
  if (opened && !cells.empty()) cells.erase(cells.begin());
  return cells;
}

std::string_view GivenSheet::cell(std::size_t row, SheetColumn column) const {
  const auto found = cells.find({row, column});
  return found == cells.end() ? std::string_view() : found->second;
}

GivenSheet read_worksheet(std::string text, std::string name, std::vector<SheetRow> rows) {
  GivenSheet sheet{.name = std::move(name), .text = std::move(text), .rows = std::move(rows)};
  if (sheet.text.size() > kMaxSheetBytes) {
    sheet.findings.push_back(
        {.code = "RW0906",
         .message = "the file is too large or too deeply nested",
         .detail = fmt::format("{} bytes; a worksheet has at most {}",
                               count(i64(sheet.text.size())), count(i64(kMaxSheetBytes))),
         .hint = std::string(sheet_reader_impl::kHint),
         .where = {.file = sheet.name}});
    sheet.row_line.assign(sheet.rows.size(), 0);
    return sheet;
  }
  sheet_reader_impl::SheetReader(sheet).read();
  sheet_reader_impl::check_tables(sheet);
  return sheet;
}

}  // namespace rankwright::lab
