// The plan of a report among others in the picture of time and memory: which plans are drawn, as
// what, and what is said of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/report.h"

namespace rankwright::report {

/// One plan of the picture: the one that the report is about, or one that might be chosen instead.
struct PlanPoint {
  enum class Role : unsigned char { itself, best, tie, safe, front, neighbour };
  Role role{};
  std::string change{};  // of a neighbour: "tp 4"
  plan::TrainingConfig config;
  Seconds time{};
  Bytes memory{};
  bool fits = true;
  std::string because{};
};
std::string_view name(PlanPoint::Role);  // "this", "best", ...

/// A neighbour that cannot exist, or that the target refuses.
struct RefusedChange {
  std::string change{};
  std::string plan{};
  std::string because{};
};

struct PlanPoints {
  std::vector<PlanPoint> points{};  // the plan itself first, then what is nearest to a choice
  std::vector<RefusedChange> refused{};
};

/// Collects the points of a report's search; nothing where nothing was searched. Every plan appears
/// once, as the first thing that it is.
PlanPoints collect_points(const planner::PlanReport& report);

}  // namespace rankwright::report
