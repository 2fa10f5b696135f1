// Implements `validate` as a library call: scores predictions against measured runs or collectives,
// or fits the constants to the runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankwright/planner/input/outcome.h"
#include "rankwright/validate/collectives.h"
#include "rankwright/validate/score.h"

namespace rankwright::planner {

/// The tables to validate against, and how.
struct ValidateRequest {
  std::vector<SourceFile> files{};  // tables of runs, or one table of collectives
  std::vector<SourceFile> with{};   // tables of runs that refits also use and that are not scored
  bool leave_one_family_out = false;
  bool calibrate_one = false;
  bool fit = false;               // fit the constants on all rows instead of scoring them
  bool runs_only = false;         // the caller wants output that collectives do not have
  validate::Progress progress{};  // called before each refit
};

/// The tables that a Validation was made from.
struct ValidationSource {
  std::vector<std::string> files{}, with{};    // scored; used only for refits
  std::vector<validate::Excluded> excluded{};  // rows of the scored files

  /// Returns the share of scored rows among those of quality A and B.
  double share(std::size_t scored) const;
};

/// Runs with their predictions and errors.
struct ScoredRuns {
  std::shared_ptr<const std::vector<validate::Case>>
      cases{};  // the rows of `validation` point into these
  validate::Validation validation{};
  ValidationSource source{};
};

/// The result. One of the three is set.
struct ValidateAnswer {
  std::optional<ScoredRuns> runs{};
  std::optional<validate::CollectiveScore> collectives{};
  std::optional<cluster::Calibration> fitted{};
};

/// Scores or fits. Requires: at least one file.
Outcome<ValidateAnswer> validate_runs(const ValidateRequest& request);

}  // namespace rankwright::planner
