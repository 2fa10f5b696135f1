// The flags about the whole training run that verbs other than `plan` share: --tokens, --price,
// --days.
#pragma once

#include <string>

#include "cli/options.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/plan/training.h"

namespace rankwright::cli {

/// The flags as typed.
struct TrainingFlags {
  std::string tokens{}, price{}, days{};

  /// Adds --tokens and --price.
  void add_to(Options& options);
  /// Adds --days.
  void add_deadline_to(Options& options);
  /// Returns the size of the whole run, or the first error.
  planner::Outcome<planner::TrainingRequest> read() const;
};

}  // namespace rankwright::cli
