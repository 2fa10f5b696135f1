// `explain --slow --slow-link --fail` as a library call: what slow ranks, slow links and a dead
// rank cost. Reads them from the texts that people type, and prices them with cost/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/cost/faults/failure.h"
#include "rankwright/cost/faults/slow_link.h"
#include "rankwright/cost/faults/straggler_mitigation.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// Faults as people type them.
struct FaultOptions {
  std::vector<std::string> slow{};       // RANK:FACTOR
  std::vector<std::string> slow_link{};  // LEVEL:FACTOR, or a bandwidth
  std::optional<i64> fail{};             // the rank that dies
  std::string failures{};                // how often: a published rate
  std::string mtbf{};                    // how often: a time between failures
  std::string checkpoint_time{};
  std::string checkpoint_interval{};
  std::string restart_time{};

  bool any() const { return !slow.empty() || !slow_link.empty() || fail || about_failures(); }
  /// Returns whether something says more about `fail`.
  bool about_failures() const {
    return !failures.empty() || !mtbf.empty() || !checkpoint_time.empty() ||
           !checkpoint_interval.empty() || !restart_time.empty();
  }
};

/// Where the figures of a failure come from, in words; publications below the table.
struct FailureSources {
  std::string between{}, restart{}, checkpoint{}, hang{};
  std::vector<std::string> cites{};
};

/// Costs of the faults. Slow ranks and failures are estimated on the slow links.
struct Faults {
  std::optional<cost::LinkLoss> links{};
  std::optional<cost::Straggler> slow{};
  cost::StragglerMitigation mitigate_straggler{};
  std::optional<i64> dead{};  // a rank
  cost::Failure failure{};
  FailureSources from{};
};

struct FaultsRequest {
  PlanSource plan{};
  FaultOptions faults{};
};
struct FaultsAnswer {
  ValidPlan plan;
  plan::TrainingConfig slowed;  // the plan's config with the slow links
  Faults faults;
};
Outcome<FaultsAnswer> explain_faults(const FaultsRequest& request);

}  // namespace rankwright::planner
