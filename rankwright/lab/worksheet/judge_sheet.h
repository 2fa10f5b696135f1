// Judges a filled worksheet cell by cell against a plan: right, half-right, wrong or open, with a
// reason in one line. A reason has the plan's numbers, but not the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/lab/worksheet/sheet.h"
#include "rankwright/lab/worksheet/sheet_reader.h"

namespace rankwright::lab {

/// The result of judging one cell.
enum class CellOutcome : unsigned char { right, half_right, wrong, open };
std::string_view name(CellOutcome);

/// The outcome of a cell and its reason.
struct CellJudgment {
  CellOutcome outcome = CellOutcome::open;
  std::string reason{};
};

/// The verdict on one cell of a worksheet.
struct CellVerdict {
  SheetRow row;
  SheetColumn column;
  std::string given{};  // as written, safe for a terminal
  CellJudgment judgment{};
  std::string answer{};  // that of `explain`
};

/// Judges the text of one cell. `index` is that of the row in the plan's view.
CellJudgment judge_cell(const SheetPlan& plan, SheetColumn column, std::size_t index,
                        std::string_view given);

/// Judges every cell that the blank worksheet has, and those of rows that the learner added.
std::vector<CellVerdict> judge_worksheet(const SheetPlan& plan, const GivenSheet& sheet);

/// Returns the number of cells with this outcome.
i64 count_outcomes(const std::vector<CellVerdict>& verdicts, CellOutcome outcome);

}  // namespace rankwright::lab
