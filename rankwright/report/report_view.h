// A report: everything that is said of a plan, or of two that are compared, in one place. Data and
// sentences only: report_json.h lays it out for the page and for machines, report_markdown.h for a
// design document, and pictures.h draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/run_trace.h"
#include "rankwright/planner/rank_map.h"
#include "rankwright/planner/timeline_summary.h"
#include "rankwright/planner/worksheet.h"
#include "rankwright/report/compare_text.h"
#include "rankwright/report/plan_view.h"

namespace rankwright {

/// A plan in the picture of time and memory: the one that the report is about, or one that might
/// be chosen instead.
struct PlanPoint {
  enum class Role : unsigned char { itself, best, tie, safe, front, neighbour };
  Role role{};
  std::string change{};  // of a neighbour: "tp 4"
  Setup setup;
  Seconds time{};
  Bytes memory{};
  bool fits = true;
  std::string because{};
};
std::string_view name(PlanPoint::Role);  // "this", "best", ...

/// A neighbour that cannot be, or that the target refuses.
struct RefusedChange {
  std::string change{};
  std::string plan{};
  std::string because{};
};

struct PlanReport {
  std::string name{};  // the file, as commands name it
  Setup setup;
  Worksheet sheet{};
  Diagnostics findings{};
  std::vector<Ledger> ledgers{};  // by pp rank
  RankMap ranks{};
  std::optional<PlayedStep> step{};    // nothing where it is too large to be played
  std::optional<RunTrace> measured{};  // of a run of it
  /// What was found for the same job; its neighbours are those of this plan. Nothing where nothing
  /// was searched.
  std::optional<PlanView> search{};
  std::vector<PlanPoint> points{};  // of the search, this plan first
  std::vector<RefusedChange> refused{};

  Seconds time() const { return sheet.estimate.time(); }
  Priced priced() const { return {.setup = setup, .estimate = sheet.estimate}; }
};

struct Report {
  std::string version{};
  std::string command{};
  std::vector<PlanReport> plans{};  // one, or two
  std::optional<CompareView> compare{};
};

/// Of the plan alone. The setup has no misfit.
PlanReport plan_report(std::string name, const Setup& setup, Diagnostics findings);

/// With what was found for the same job, whose neighbours are those of this plan.
void add_search(PlanReport& report, PlanView search);

}  // namespace rankwright
