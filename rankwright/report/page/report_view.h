// A report: one plan, or two that are compared, with what was typed to make it. report_json.h lays
// it out for the page and for machines, report_markdown.h for a design document, and pictures.h
// draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/planner/report.h"
#include "rankwright/report/compare/compare_text.h"

namespace rankwright::report {

struct Report {
  std::string version{};
  std::string command{};
  std::vector<planner::PlanReport> plans{};  // one, or two
  std::optional<planner::CompareView> compare{};
};

}  // namespace rankwright::report
