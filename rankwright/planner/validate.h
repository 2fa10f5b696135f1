// `validate` as a library call: predictions against measured runs or collectives, and constants
// fitted on the runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankwright/planner/input/outcome.h"
#include "rankwright/validate/collectives.h"
#include "rankwright/validate/score.h"

namespace rankwright::planner {

struct ValidateRequest {
  std::vector<SourceFile> files{};  // tables of runs, or one of collectives
  std::vector<SourceFile> with{};   // tables of runs that refits use, too, and that are not scored
  bool leave_one_family_out = false;
  bool calibrate_one = false;
  bool fit = false;        // fit the constants on all rows instead of scoring them
  bool runs_only = false;  // the caller wants something that a table of collectives does not have
  validate::Progress progress{};  // called before each refit
};

/// The tables that a Validation was made from.
struct ValidationSource {
  std::vector<std::string> files{}, with{};    // scored; used for refits alone
  std::vector<validate::Excluded> excluded{};  // of the scored files

  /// Returns the share of the scored rows among those of quality A and B.
  double share(std::size_t scored) const;
};

struct ScoredRuns {
  std::shared_ptr<const std::vector<validate::Case>>
      cases{};  // that the rows of the validation point into
  validate::Validation validation{};
  ValidationSource source{};
};

/// One of the three.
struct ValidateAnswer {
  std::optional<ScoredRuns> runs{};
  std::optional<validate::CollectiveScore> collectives{};
  std::optional<cluster::Calibration> fitted{};
};

/// Requires: at least one file.
Outcome<ValidateAnswer> validate_runs(const ValidateRequest& request);

}  // namespace rankwright::planner
