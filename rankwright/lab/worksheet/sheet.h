// The worksheet of a plan: three tables (axes, communication, states) whose cells a learner fills
// in. The rows and the right answers are those of `explain`. sheet_reader.h reads a filled
// worksheet, judge_sheet.h judges it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::lab {

/// A plan and its explanation, from which all answers follow.
struct SheetPlan {
  plan::TrainingConfig config;
  planner::ExplainView view;
};

/// Explains a config for a worksheet. Requires: it has no constraint violations.
SheetPlan make_sheet_plan(plan::TrainingConfig config);

/// The tables of a worksheet.
enum class SheetTable : unsigned char { axes, communication, states };
inline constexpr std::size_t kSheetTables = 3;

/// One table: its title, and the heading of the column that names the rows.
struct SheetTableRow {
  SheetTable table;
  std::string_view title;  // "Axes"
  std::string_view key;    // "axis"
  std::string_view also;   // other headings of that column, separated by '|'
};
std::span<const SheetTableRow> sheet_tables();
const SheetTableRow& row(SheetTable);

/// One row of a table, such as TP or "DP all-reduce".
struct SheetRow {
  SheetTable table;
  std::string label;
  std::size_t index = 0;  // in the view's axes, communication or states
  bool asked = true;      // false: not in the blank worksheet, but judged if the learner adds it
};

/// Returns the rows of all tables, table by table. The blank worksheet asks for each axis, for the
/// collectives of each axis (not for those of embedding, loss and norms), and for each state.
std::vector<SheetRow> list_sheet_rows(const planner::ExplainView& view);

/// The columns that a learner fills in.
enum class SheetColumn : unsigned char {
  degree,
  placement,
  reason,
  frequency,
  preferred_link,
  risk,
  split_over,
  replicated_over,
  consistent_by,
};

/// One column: its heading, what may be written in it, and the right answer of `explain`.
struct SheetColumnRow {
  SheetColumn column;
  SheetTable table;
  std::string_view title;  // "preferred link"
  std::string_view also;   // other headings, separated by '|'
  std::string_view form;   // what may be written
  std::string (*answer)(const SheetPlan& plan, std::size_t index);
};
std::span<const SheetColumnRow> sheet_columns();
const SheetColumnRow& row(SheetColumn);

/// Writes the worksheet as Markdown, with empty cells or with the answers. `command` is the command
/// that checks it.
std::string write_worksheet(const SheetPlan& plan, std::string_view command, bool solved);

}  // namespace rankwright::lab
