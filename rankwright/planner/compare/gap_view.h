// A measured run against its plan: which settings the log states otherwise, the step against its
// estimate, the peak of memory against the ledger, and how memory ran out. Data only: gap_text.h
// and gap_json.h lay them out; what explains a difference is validate/gap.h and memory_gap.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/validate/gap.h"
#include "rankwright/validate/memory_gap.h"

namespace rankwright::planner {

/// A setting that the plan and the log state otherwise.
struct SettingGap {
  std::string key;
  std::string plan, log;
};

struct GapView {
  std::string plan, log;  // their files
  std::vector<SettingGap> settings{};
  std::optional<validate::TimeGap> time{};
  std::optional<validate::MemoryGap> memory{};
  std::optional<validate::OomGap> oom{};
  i64 unsteady = 0;         // steps of a log that has none to measure by: warm-up and skipped ones
  bool unledgered = false;  // out of memory, and no model to hold a ledger against
  bool timed = false;       // the log has timers that the model predicts

  /// Something is more than the error of the estimate.
  bool outside() const;
};

/// `ran`: what the log says that ran, as far as it was read; nothing where it says none.
GapView gap_view(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                 const importer::RunLog& log, const importer::PlanFile* ran);

}  // namespace rankwright::planner
