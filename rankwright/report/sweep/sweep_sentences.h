// Describes what a sweep shows in sentences, and the figure that its bars draw. sweep_text.h and
// sweep_svg.h have the table and the picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/explain/sweep_view.h"

namespace rankwright::report {

/// The figure that a sweep draws as bars.
struct SweepFigure {
  std::string_view name;  // in a sentence: "memory of the fullest rank"
  double (*read)(const planner::SweepRow&);
  std::string (*show)(const planner::SweepRow&);
};
const SweepFigure& get_sweep_figure(planner::SweepBar bar);

/// Returns the conclusion: the fastest value, the values too close to call, how the figure of the
/// bars changes, and where the group leaves a link.
std::string describe_sweep(const planner::SweepView& view);

/// Returns a line for each rule by which the framework cannot run some of the values.
std::vector<std::string> list_sweep_refusals(const planner::SweepView& view);

/// Suggests the edits that give the plan its fastest value, or another command if it has it.
std::string suggest_after_sweep(const planner::SweepAnswer& answer);

}  // namespace rankwright::report
