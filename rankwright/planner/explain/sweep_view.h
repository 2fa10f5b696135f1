// Estimates a plan once per value of a swept setting, as `explain PLAN` estimates it. Values that
// the plan cannot have stay in the view, with the reason. report/sweep/ presents it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/planner/explain/key_differences.h"
#include "rankwright/planner/explain/sweep_keys.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// The plan with one value of the setting.
struct SweepRow {
  i64 value = 0;
  bool own = false;            // the value that the plan has
  std::string impossible{};    // why no such plan exists; empty: the figures below are set
  std::string_view refused{};  // code of the rule by which the plan's framework cannot run it
  plan::TrainingConfig config{};
  cost::Estimate estimate{};
  double bubble = 0;  // ideal share of the step that is idle; 0 without a pipeline
  double tokens = 0;  // per second and device
  double mfu = 0;
  Seconds exposed{};   // communication that the step waits for
  std::string link{};  // outermost link that the key's group crosses; empty: none

  bool estimated() const { return impossible.empty(); }
  /// Returns whether the plan exists, fits in memory, and can be run by its framework.
  bool runs() const { return estimated() && refused.empty() && estimate.fits(); }
  /// Returns the tokens per second of the whole job.
  double throughput() const { return tokens * double(config.world); }
};

/// All values of one setting.
struct SweepView {
  const SweepKey* key = nullptr;
  i64 now = 0;        // the plan's own value, whether or not it is swept
  std::string fixed;  // what does not change, and what changes with the value
  std::vector<SweepRow> rows{};
  std::optional<std::size_t> best{};     // most tokens per second of those that run
  std::vector<KeyDifference> changes{};  // plan keys, from the plan to the best row
  double tie_band = 0;                   // smaller relative differences do not decide
};

/// Estimates the plan with each value. Requires: a config without constraint violations, read from
/// `draft`.
SweepView make_sweep_view(const plan::TrainingConfig& config, const importer::Draft& draft,
                          const Sweep& sweep, rules::Target target = rules::Target::any);

/// Returns the rows that run and are within the tie band of the best, which is among them.
std::vector<const SweepRow*> list_tied_rows(const SweepView& view);

/// A plan and a sweep of one of its settings.
struct SweepAnswer {
  ValidPlan plan;
  SweepView view;
};

/// Reads a plan and estimates it for each value of "KEY=RANGE".
Outcome<SweepAnswer> explain_sweep(const PlanSource& plan, const std::string& sweep);

}  // namespace rankwright::planner
