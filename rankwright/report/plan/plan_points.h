// Selects the plans for the picture of step time against memory, each with its role and why it is
// shown. why_not_svg.h draws them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/report.h"

namespace rankwright::report {

/// One plan of the picture: the one that the report is about, or an alternative to it.
struct PlanPoint {
  enum class Role : unsigned char { itself, best, tie, safe, front, neighbour };
  Role role{};
  std::string change{};  // of a neighbor: "tp 4"
  plan::TrainingConfig config;
  Seconds time{};
  Bytes memory{};
  bool fits = true;
  std::string because{};
};
/// Returns the name of a role: "this", "best", ...
std::string_view name(PlanPoint::Role);

/// A neighbor that violates a constraint or that the target framework refuses.
struct RefusedChange {
  std::string change{};
  std::string plan{};
  std::string because{};
};

/// The points of a picture, and the neighbors that have none.
struct PlanPoints {
  std::vector<PlanPoint> points{};  // the plan itself first, then by decreasing relevance
  std::vector<RefusedChange> refused{};
};

/// Collects the points of a report's search; empty if nothing was searched. A plan with several
/// roles appears once, in its first role.
PlanPoints collect_points(const planner::PlanReport& report);

}  // namespace rankwright::report
