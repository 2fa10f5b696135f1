// Compares a measured run with its plan: settings that differ in the log, the step time against its
// estimate, peak memory against the memory estimate, and an out-of-memory error. Data only:
// gap_text.h and gap_json.h present it; validate/gap.h and memory_gap.h explain the differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/validate/gap.h"
#include "rankwright/validate/memory_gap.h"

namespace rankwright::planner {

/// A setting that differs between the plan and the log.
struct SettingGap {
  std::string key;
  std::string plan, log;
};

/// The gap between a plan and a measured run.
struct GapView {
  std::string plan, log;  // names of their files
  std::vector<SettingGap> settings{};
  std::optional<validate::TimeGap> time{};
  std::optional<validate::MemoryGap> memory{};
  std::optional<validate::OomGap> oom{};
  i64 unsteady = 0;         // steps of a log without a measurable one: warm-up and skipped steps
  bool unledgered = false;  // out of memory, but without a model there is no memory estimate
  bool timed = false;       // the log has timers that the model predicts

  /// Returns whether a difference exceeds the error of the estimate.
  bool outside() const;
};

/// Compares a run's log with its plan. `ran` is the plan that the log states, as far as it was
/// read; null if it states none.
GapView make_gap_view(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                      const importer::RunLog& log, const importer::PlanFile* ran);

}  // namespace rankwright::planner
