// The pictures of a report, each alone as an SVG file for a paper or slides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

struct Picture {
  std::string_view name;  // of the file, without ".svg"
  std::string svg;
};

/// In the order of the page. Memory is left out where no model is named, the timeline where the
/// step was not simulated, what else could be chosen where nothing was searched.
std::vector<Picture> pictures(const planner::PlanReport& report);

/// Their names alone, without drawing them.
std::vector<std::string_view> picture_names(const planner::PlanReport& report);

/// "step.svg"; of two plans "step-a.svg" and "step-b.svg".
std::string picture_file(const Report& report, std::size_t plan, std::string_view name);

}  // namespace rankwright::report
