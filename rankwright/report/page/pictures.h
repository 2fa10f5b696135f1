// The pictures of a report, each as a separate SVG file for a paper or slides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// One picture.
struct Picture {
  std::string_view name;  // of the file, without ".svg"
  std::string svg;
};

/// Draws the pictures in the order of the page. Leaves out the memory if no model is given, the
/// timeline if the step was not simulated, and the alternatives if nothing was searched.
std::vector<Picture> draw_pictures(const planner::PlanReport& report);

/// Returns the names of those pictures without drawing them.
std::vector<std::string_view> list_picture_names(const planner::PlanReport& report);

/// Returns the file name of a picture: "step.svg", or "step-a.svg" and "step-b.svg" if the report
/// has two plans.
std::string name_picture_file(const Report& report, std::size_t plan, std::string_view name);

}  // namespace rankwright::report
