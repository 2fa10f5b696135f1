// Writes the verdicts on a worksheet as text, as Markdown with one verdict per cell, and as JSON.
// Answers of cells that are not right appear only if they are asked for.
#pragma once

#include <string>
#include <vector>

#include "rankwright/lab/worksheet/judge_sheet.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::lab {

/// Writes the judged cells of each table, the open ones, and the number of right ones. Lines have
/// at most `width` characters.
std::string render_sheet_text(const std::vector<CellVerdict>& verdicts, bool show_answers,
                              const report::Paint& paint, std::size_t width);

/// Writes the tables with the verdict in each cell: "8 (right)".
std::string render_sheet_markdown(const std::vector<CellVerdict>& verdicts, bool show_answers);

/// Writes schema rankwright.worksheet/1.
std::string make_sheet_json(const std::vector<CellVerdict>& verdicts, bool show_answers,
                            std::string_view plan);

}  // namespace rankwright::lab
