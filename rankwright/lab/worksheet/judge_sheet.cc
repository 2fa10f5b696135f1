#include "rankwright/lab/worksheet/judge_sheet.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/lab/worksheet/sheet_cell.h"
#include "rankwright/lab/worksheet/words.h"

namespace rankwright::lab {
namespace judge_sheet_impl {
namespace {

bool is_degree_none(const SheetCell& cell) { return cell.expected == "0" || cell.expected == "1"; }
bool is_placement_none(const SheetCell& cell) {
  return cell.expected == "-" || cell.expected == "one rank";
}
bool is_axis_unused(const SheetCell& cell) {
  return cell.plan.view.axes[cell.index].placement == "-";
}
bool is_any_link(const SheetCell& cell) { return cell.expected == "any"; }
bool is_dash(const SheetCell& cell) { return cell.expected == "-"; }
bool is_never(const SheetCell&) { return false; }
bool is_nothing_needed(const SheetCell& cell) {
  return cell.expected.starts_with("nothing") || cell.expected == "one replica";
}

/// The functions of a column: one judges a text, the other returns whether "none" is right.
struct JudgeRow {
  SheetColumn column;
  CellJudgment (*judge)(const SheetCell& cell);
  bool (*is_none_right)(const SheetCell& cell);
};
constexpr JudgeRow kJudges[] = {
    {SheetColumn::degree, judge_degree, is_degree_none},
    {SheetColumn::placement, judge_placement, is_placement_none},
    {SheetColumn::reason, judge_reason, is_axis_unused},
    {SheetColumn::frequency, judge_frequency, is_never},
    {SheetColumn::preferred_link, judge_link, is_any_link},
    {SheetColumn::risk, judge_risk, is_never},
    {SheetColumn::split_over, judge_state_axes, is_dash},
    {SheetColumn::replicated_over, judge_state_axes, is_dash},
    {SheetColumn::consistent_by, judge_consistency, is_nothing_needed},
};

/// Returns why a cell that the file does not have is open; empty if the file has the cell.
std::string describe_missing(const GivenSheet& sheet, std::size_t k, SheetColumn column) {
  const int table = sheet.table_line[std::size_t(sheet.rows[k].table)];
  if (table == 0) return "the file has no such table";
  if (sheet.row_line[k] == 0) return fmt::format("no such row in the table at line {}", table);
  if (!sheet.column_line.contains(column))
    return fmt::format("no such column in the table at line {}", table);
  return "";
}

/// Removes the numbers of an axis, which contain its degree, unless the learner knows the degree.
void hide_degrees(std::vector<CellVerdict>& verdicts) {
  bool known = true;
  for (CellVerdict& verdict : verdicts) {
    if (verdict.column == SheetColumn::degree)
      known = verdict.judgment.outcome == CellOutcome::right;
    if (verdict.row.table == SheetTable::axes && verdict.column != SheetColumn::degree && !known &&
        verdict.judgment.outcome == CellOutcome::right)
      verdict.judgment.reason.clear();
  }
}

}  // namespace
}  // namespace judge_sheet_impl

CellJudgment judge_parts(const SheetCell& cell, const std::vector<AnswerPart>& parts,
                         std::string numbers) {
  std::string missing;
  std::size_t found = 0;
  for (const AnswerPart& part : parts) {
    if (mentions(cell.given, part.stems))
      ++found;
    else
      missing += fmt::format("{}{}", missing.empty() ? "" : "; ", part.asks);
  }
  if (found == parts.size()) return {CellOutcome::right, std::move(numbers)};
  if (found > 0) return {CellOutcome::half_right, "add " + missing};
  if (count_words(cell.given) < kMinWords)
    return {CellOutcome::open, "too short to judge; state " + missing};
  return {CellOutcome::wrong, "not recognized; state " + missing};
}

std::string_view name(CellOutcome outcome) {
  constexpr std::string_view kNames[] = {"right", "half-right", "wrong", "open"};
  return kNames[std::size_t(outcome)];
}

CellJudgment judge_cell(const SheetPlan& plan, SheetColumn column, std::size_t index,
                        std::string_view given) {
  const judge_sheet_impl::JudgeRow& judge = judge_sheet_impl::kJudges[std::size_t(column)];
  RW_CHECK(judge.column == column);
  const SheetCell cell{plan, index, row(column).answer(plan, index), given,
                       normalize_answer(given)};
  const AnswerForm form = classify_answer(given);
  if (form == AnswerForm::open) return {};
  if (form != AnswerForm::text && judge.is_none_right(cell)) return {CellOutcome::right, ""};
  if (form == AnswerForm::dash) return {};
  CellJudgment judgment = judge.judge(cell);
  // "none" is an answer, however short.
  if (form == AnswerForm::none && judgment.outcome == CellOutcome::open)
    judgment = {CellOutcome::wrong, "the plan has one"};
  return judgment;
}

std::vector<CellVerdict> judge_worksheet(const SheetPlan& plan, const GivenSheet& sheet) {
  constexpr std::size_t kShown = 200;  // bytes of an answer
  std::vector<CellVerdict> verdicts;
  for (std::size_t k = 0; k < sheet.rows.size(); ++k) {
    const SheetRow& line = sheet.rows[k];
    if (!line.asked && sheet.row_line[k] == 0) continue;
    for (const SheetColumnRow& column : sheet_columns()) {
      if (column.table != line.table) continue;
      const std::string_view given = sheet.cell(k, column.column);
      CellVerdict verdict{
          .row = line, .column = column.column, .given = make_excerpt(given, kShown)};
      verdict.judgment = judge_cell(plan, column.column, line.index, given);
      verdict.answer = column.answer(plan, line.index);
      if (verdict.judgment.outcome == CellOutcome::open && verdict.judgment.reason.empty())
        verdict.judgment.reason = judge_sheet_impl::describe_missing(sheet, k, column.column);
      verdicts.push_back(std::move(verdict));
    }
  }
  judge_sheet_impl::hide_degrees(verdicts);
  return verdicts;
}

i64 count_outcomes(const std::vector<CellVerdict>& verdicts, CellOutcome outcome) {
  return std::count_if(verdicts.begin(), verdicts.end(), [&](const CellVerdict& verdict) {
    return verdict.judgment.outcome == outcome;
  });
}

}  // namespace rankwright::lab
