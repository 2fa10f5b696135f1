// Judges the table of the states: split over, replicated over, kept consistent by.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/lab/worksheet/sheet_cell.h"
#include "rankwright/lab/worksheet/words.h"

namespace rankwright::lab {
namespace judge_states_impl {
namespace {

constexpr CellOutcome kRight = CellOutcome::right, kHalf = CellOutcome::half_right,
                      kWrong = CellOutcome::wrong, kOpen = CellOutcome::open;

struct NamedAxis {
  std::string_view name;
  bool AxisSet::*in;
};
constexpr NamedAxis kAxes[] = {{"TP", &AxisSet::tp},
                               {"PP", &AxisSet::pp},
                               {"CP", &AxisSet::cp},
                               {"DP", &AxisSet::dp},
                               {"EP", &AxisSet::ep}};

/// Returns the axes that may be named or left out: sharded states are sharded over CP as well,
/// expert-parallel ranks are data ranks, and a mirrored pipeline has each stage twice.
AxisSet optional_axes(const SheetCell& cell) {
  const plan::Plan& p = cell.plan.config.plan;
  const planner::StateRow& state = cell.plan.view.states[cell.index];
  return {.pp = p.mirrored(),
          .cp = p.cp > 1 && state.dp == "sharded",
          .ep = p.ep > 1 && state.state == "batch"};
}

}  // namespace
}  // namespace judge_states_impl

CellJudgment judge_state_axes(const SheetCell& cell) {
  AxisSet given = find_axes(normalize_assertion(cell.typed));
  const AxisSet wanted = find_axes(normalize_answer(cell.expected));
  const AxisSet optional = judge_states_impl::optional_axes(cell);
  // With DP 1, the ranks that share a copy are those of CP.
  if (cell.plan.config.plan.dp == 1 && wanted.dp && given.cp) given.dp = true;
  if (given.empty()) return {judge_states_impl::kOpen, "name axes: TP, PP, CP, DP or EP, or none"};
  std::string extra;
  int common = 0, missing = 0;
  for (const judge_states_impl::NamedAxis& axis : judge_states_impl::kAxes) {
    common += given.*axis.in && wanted.*axis.in;
    missing += !(given.*axis.in) && wanted.*axis.in && !(optional.*axis.in);
    if (given.*axis.in && !(wanted.*axis.in) && !(optional.*axis.in))
      extra += fmt::format("{}{}", extra.empty() ? "" : ", ", axis.name);
  }
  if (extra.empty() && missing == 0) return {judge_states_impl::kRight, ""};
  std::string reason = extra.empty() ? "" : "not over " + extra;
  if (missing > 0)
    reason += fmt::format("{}{} missing", reason.empty() ? "" : "; ",
                          plural(missing, "axis is", "axes are"));
  return {common > 0 ? judge_states_impl::kHalf : judge_states_impl::kWrong, reason};
}

CellJudgment judge_consistency(const SheetCell& cell) {
  const std::string critical = cell.plan.view.states[cell.index].critical;
  CellJudgment judgment = judge_parts(cell, consistency_parts(cell.expected),
                                      critical == "-" ? "" : "on the critical path: " + critical);
  if (judgment.outcome != judge_states_impl::kOpen) return judgment;
  for (const AnswerPart& other : list_consistency_parts())
    if (mentions(cell.given, other.stems)) return {judge_states_impl::kWrong, "not in this plan"};
  return judgment;
}

}  // namespace rankwright::lab
