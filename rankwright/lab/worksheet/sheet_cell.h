// One cell of a worksheet and the functions that judge its column, one file per table.
// judge_sheet.h is the interface; only its sources include this file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/lab/worksheet/free_text.h"
#include "rankwright/lab/worksheet/judge_sheet.h"

namespace rankwright::lab {

/// A cell to judge: its place in the plan and its text in the forms that judges need.
struct SheetCell {
  const SheetPlan& plan;
  std::size_t index;     // of the row in the plan's view
  std::string expected;  // as `explain` writes it
  std::string_view typed;
  std::string given;  // normalized
};

/// A shorter text, in words, in which nothing is recognized is open rather than wrong.
inline constexpr std::size_t kMinWords = 3;

/// Judges a sentence by the parts that it mentions. `numbers` is the reason of a right one.
CellJudgment judge_parts(const SheetCell& cell, const std::vector<AnswerPart>& parts,
                         std::string numbers);

// The judges of the columns. Requires: the cell has text.
CellJudgment judge_degree(const SheetCell& cell);
CellJudgment judge_placement(const SheetCell& cell);
CellJudgment judge_reason(const SheetCell& cell);
CellJudgment judge_frequency(const SheetCell& cell);
CellJudgment judge_link(const SheetCell& cell);
CellJudgment judge_risk(const SheetCell& cell);
CellJudgment judge_state_axes(const SheetCell& cell);
CellJudgment judge_consistency(const SheetCell& cell);

}  // namespace rankwright::lab
