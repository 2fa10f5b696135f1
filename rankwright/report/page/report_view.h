// A report: one plan, or two compared plans, with the command that made it. report_json.h writes
// it for the page and for programs, report_markdown.h as a design document, and pictures.h draws
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/planner/report.h"
#include "rankwright/report/compare/compare_text.h"

namespace rankwright::report {

/// A report on one or two plans.
struct Report {
  std::string version{};
  std::string command{};
  std::vector<planner::PlanReport> plans{};  // one or two
  std::optional<planner::CompareView> compare{};
};

}  // namespace rankwright::report
