// Helpers that the pictures of a sweep share, and the picture with timelines. sweep_svg.h chooses
// the picture and draws the one with bars.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/planner/explain/sweep_view.h"
#include "rankwright/report/render/chart.h"

namespace rankwright::report {

inline constexpr double kSweepLabels = 150;   // pixels for the names of the values
inline constexpr double kSweepFigures = 108;  // pixels for the figures at the right

/// Returns what is special about a value: "fastest, this plan", "does not fit", the code of a rule.
std::string mark_swept_value(const planner::SweepView& view, std::size_t i);

/// Writes the name of a value that the plan cannot have, and the reason at `x`.
void write_swept_reason(Chart& chart, const planner::SweepView& view, std::size_t i, double x);

/// Writes the text below a picture.
void write_swept_caption(Chart& chart, std::string_view words);

/// Draws the simulated step of each value, stacked on a common time scale.
std::string draw_swept_timelines(const planner::SweepAnswer& answer);

}  // namespace rankwright::report
