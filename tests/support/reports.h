// Reports for tests of their consumers: of plans as a user types them, and random ones.
#pragma once

#include "rankwright/report/page/report_view.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "tests/support/any_config.h"
#include "tests/support/typed_configs.h"

namespace rankwright {

inline planner::PlanReport report_of(const std::string& plan) {
  return planner::build_plan_report("plan.yaml", config_of(plan), {});
}

/// Makes the report of the course's plan, 64 ranks: tp 8 inside a node, dp 2, pp 4.
inline planner::PlanReport course_report() {
  return report_of(
      "{model: llama-3.1-70b, cluster: dgx-h100 x 8, parallelism: {tp_size: 8, pp_size: 4, "
      "dp_size: 2}}");
}

/// Returns text that would be markup if it were not escaped, and that is too long for any place.
inline std::string hostile_name() {
  std::string name = "</text><script>&\"'\x01\xff";
  for (int i = 0; i < 40; ++i) name += "very long ";
  return name +
         "Wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww";
}

/// Makes a report in which everything that a user can name has such a name.
inline planner::PlanReport hostile_report() {
  plan::TrainingConfig config = course_report().config;
  config.model.name = hostile_name();
  config.cluster.device.name = hostile_name();
  for (cluster::Level& level : config.cluster.levels) level.name = hostile_name();
  return planner::build_plan_report(hostile_name(), config, {});
}

/// Makes the report of a valid plan on a cluster of one to three levels, with ranks placed
/// anywhere.
inline planner::PlanReport random_report() {
  plan::TrainingConfig config = sample::random_config();
  config.cluster = any_config::random_cluster(config.world);
  config.plan.placement = any_config::random_placement(config.world, config.cluster.host_devices);
  RC_PRE(find_violations(config).empty());
  return planner::build_plan_report("plan.yaml", config, {});
}

/// Makes the trace of a run that took exactly as long as simulated.
inline importer::RunTrace run_as_simulated(const planner::PlanReport& report) {
  importer::RunTrace run{.file = "step.json", .end = report.step->summary.end};
  const planner::SimulatedStep& p = report.step->simulated;
  for (i64 rank = 0; rank < p.program.pp(); ++rank) {
    std::vector<importer::TraceSlice>& slices = run.ranks.emplace_back();
    for (const program::Event& e : events(p, rank))
      if (is_cell(e.action.kind))
        slices.push_back({.begin = e.start,
                          .end = e.end,
                          .name = report::name_event(p.program, rank, e.action),
                          .cell = e.action});
  }
  return run;
}

}  // namespace rankwright
