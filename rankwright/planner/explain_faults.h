// Implements `explain --slow --slow-link --fail` as a library call: estimates the cost of slow
// ranks, slow links and a failed rank. Parses the options as the user types them; cost/ computes
// the estimates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/cost/faults/failure.h"
#include "rankwright/cost/faults/slow_link.h"
#include "rankwright/cost/faults/straggler_mitigation.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// The faults, as typed by the user.
struct FaultOptions {
  std::vector<std::string> slow{};       // RANK:FACTOR
  std::vector<std::string> slow_link{};  // LEVEL:FACTOR or LEVEL:BANDWIDTH
  std::optional<i64> fail{};             // the rank that fails
  std::string failures{};                // failure rate: the name of a published one
  std::string mtbf{};                    // failure rate: a mean time between failures
  std::string checkpoint_time{};
  std::string checkpoint_interval{};
  std::string restart_time{};

  bool any() const { return !slow.empty() || !slow_link.empty() || fail || about_failures(); }
  /// Returns whether an option is set that only applies to `fail`.
  bool about_failures() const {
    return !failures.empty() || !mtbf.empty() || !checkpoint_time.empty() ||
           !checkpoint_interval.empty() || !restart_time.empty();
  }
};

/// Where the figures of a failure come from, as text, and the publications to cite.
struct FailureSources {
  std::string between{}, restart{}, checkpoint{}, hang{};
  std::vector<std::string> cites{};
};

/// Costs of the faults. Slow ranks and failures are estimated with the slow links applied.
struct Faults {
  std::optional<cost::LinkLoss> links{};
  std::optional<cost::Straggler> slow{};
  cost::StragglerMitigation mitigation{};
  std::optional<i64> dead{};  // the failed rank
  cost::Failure failure{};
  FailureSources from{};
};

/// A plan and its faults.
struct FaultsRequest {
  PlanSource plan{};
  FaultOptions faults{};
};

/// The plan and the costs of its faults.
struct FaultsAnswer {
  ValidPlan plan;
  plan::TrainingConfig slowed;  // the plan's config with the slow links applied
  Faults faults;
};

/// Reads a plan and estimates the cost of its faults. Refuses invalid options.
Outcome<FaultsAnswer> explain_faults(const FaultsRequest& request);

}  // namespace rankwright::planner
