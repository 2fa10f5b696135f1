#include "rankwright/lab/worksheet/sheet_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace sheet_text_impl {
namespace {

using nlohmann::ordered_json;

constexpr CellOutcome kOutcomes[] = {CellOutcome::right, CellOutcome::half_right,
                                     CellOutcome::wrong, CellOutcome::open};

/// Returns "12 of 44 cells right, 3 half-right, 1 wrong, 28 open".
std::string write_score(const std::vector<CellVerdict>& verdicts) {
  std::string text;
  for (const CellOutcome outcome : kOutcomes) {
    const i64 cells = count_outcomes(verdicts, outcome);
    if (outcome == CellOutcome::right)
      text = fmt::format("{} of {} cells right", cells, verdicts.size());
    else if (cells > 0)
      text += fmt::format(", {} {}", cells, name(outcome));
  }
  return text;
}

std::string cell_name(const CellVerdict& verdict) {
  return verdict.row.label + " " + std::string(row(verdict.column).title);
}

bool shows_answer(const CellVerdict& verdict, bool show_answers) {
  return show_answers && verdict.judgment.outcome != CellOutcome::right;
}

/// Open cells of one table that are open for the same reason.
struct OpenCells {
  std::string reason{}, cells{};
};

bool is_empty(const CellVerdict& verdict) {
  return verdict.judgment.outcome == CellOutcome::open && verdict.given.empty();
}

/// Lists the open cells without text, grouped by reason: "DP placement, reason", or "DP" if the
/// whole row is open.
std::vector<OpenCells> group_open(const std::vector<CellVerdict>& verdicts, SheetTable table) {
  std::vector<OpenCells> groups;
  for (std::size_t k = 0, end = 0; k < verdicts.size(); k = end) {
    std::string cells, reason;
    bool whole = true;
    for (end = k; end < verdicts.size() && verdicts[end].row.label == verdicts[k].row.label &&
                  verdicts[end].row.table == verdicts[k].row.table;
         ++end) {
      whole = whole && is_empty(verdicts[end]);
      if (!is_empty(verdicts[end])) continue;
      reason = verdicts[end].judgment.reason;
      cells += fmt::format("{}{}", cells.empty() ? "" : " and ", row(verdicts[end].column).title);
    }
    if (verdicts[k].row.table != table || cells.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const OpenCells& one) { return one.reason == reason; });
    if (group == groups.end()) group = groups.insert(groups.end(), {.reason = reason});
    group->cells += fmt::format("{}{}{}", group->cells.empty() ? "" : ", ", verdicts[k].row.label,
                                whole ? "" : " " + cells);
  }
  return groups;
}

std::string list_open(const std::vector<CellVerdict>& verdicts, SheetTable table,
                      std::size_t width) {
  std::string out;
  for (const OpenCells& group : group_open(verdicts, table))
    out += report::wrap_text(fmt::format("open: {}{}", group.cells,
                                         group.reason.empty() ? "" : " (" + group.reason + ")"),
                             width - 2, "  ");
  return out;
}

report::Table make_table(const std::vector<CellVerdict>& verdicts, SheetTable table,
                         bool show_answers) {
  report::Table lines{{{"verdict"}, {"cell"}, {"you wrote"}, {"reason"}}};
  if (show_answers) lines.columns.push_back({"answer"});
  for (const CellVerdict& verdict : verdicts) {
    if (verdict.row.table != table) continue;
    if (verdict.given.empty() && !shows_answer(verdict, show_answers)) continue;
    lines.rows.push_back({std::string(name(verdict.judgment.outcome)), cell_name(verdict),
                          verdict.given, verdict.given.empty() ? "" : verdict.judgment.reason});
    if (show_answers)
      lines.rows.back().push_back(shows_answer(verdict, true) ? verdict.answer : "");
  }
  return lines;
}

}  // namespace
}  // namespace sheet_text_impl

std::string render_sheet_text(const std::vector<CellVerdict>& verdicts, bool show_answers,
                              const report::Paint& paint, std::size_t width) {
  std::string out = paint.bold(sheet_text_impl::write_score(verdicts)) + "\n";
  for (const SheetTableRow& table : sheet_tables()) {
    const report::Table lines = sheet_text_impl::make_table(verdicts, table.table, show_answers);
    const std::string open =
        show_answers ? "" : sheet_text_impl::list_open(verdicts, table.table, width);
    if (lines.rows.empty() && open.empty()) continue;
    out += "\n" + paint.bold(table.title) + "\n";
    if (!lines.rows.empty()) out += lines.text(paint, "  ", width);
    out += open;
  }
  const bool all = count_outcomes(verdicts, CellOutcome::right) == i64(verdicts.size());
  if (!all && !show_answers) out += "\n--show prints the answers.\n";
  return out;
}

std::string render_sheet_markdown(const std::vector<CellVerdict>& verdicts, bool show_answers) {
  std::string out = "# Worksheet, checked\n\n" + sheet_text_impl::write_score(verdicts) + ".\n";
  for (const SheetTableRow& table : sheet_tables()) {
    report::Table lines{{{std::string(table.key)}}};
    for (const SheetColumnRow& column : sheet_columns())
      if (column.table == table.table) lines.columns.push_back({std::string(column.title)});
    for (const CellVerdict& verdict : verdicts) {
      if (verdict.row.table != table.table) continue;
      if (lines.rows.empty() || lines.rows.back().size() == lines.columns.size())
        lines.rows.push_back({verdict.row.label});
      const std::string& reason = verdict.judgment.reason;
      std::string text =
          fmt::format("{}{}({}{})", verdict.given, verdict.given.empty() ? "" : " ",
                      name(verdict.judgment.outcome), reason.empty() ? "" : ": " + reason);
      if (sheet_text_impl::shows_answer(verdict, show_answers))
        text += " Answer: " + verdict.answer;
      lines.rows.back().push_back(std::move(text));
    }
    if (!lines.rows.empty()) out += fmt::format("\n## {}\n\n{}", table.title, lines.markdown());
  }
  return out;
}

std::string make_sheet_json(const std::vector<CellVerdict>& verdicts, bool show_answers,
                            std::string_view plan) {
  sheet_text_impl::ordered_json json{{"schema", "rankwright.worksheet/1"}, {"plan", plan}};
  json["all_right"] = count_outcomes(verdicts, CellOutcome::right) == i64(verdicts.size());
  for (const CellOutcome outcome : sheet_text_impl::kOutcomes)
    json["counts"][std::string(name(outcome))] = count_outcomes(verdicts, outcome);
  for (const CellVerdict& verdict : verdicts) {
    sheet_text_impl::ordered_json one{{"table", row(verdict.row.table).title},
                                      {"row", verdict.row.label},
                                      {"column", row(verdict.column).title},
                                      {"verdict", name(verdict.judgment.outcome)},
                                      {"given", verdict.given}};
    if (!verdict.judgment.reason.empty()) one["reason"] = verdict.judgment.reason;
    if (sheet_text_impl::shows_answer(verdict, show_answers)) one["answer"] = verdict.answer;
    json["cells"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

}  // namespace rankwright::lab
