// Reads the options about a whole training run, as people type them.
#pragma once

#include <string>

#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/plan/training.h"

namespace rankwright::planner {

/// The options as typed; empty: not given.
struct TrainingTexts {
  std::string tokens{}, price{}, days{};
};

/// Reads the options. Refuses a price or a deadline without tokens.
Outcome<TrainingRequest> read_training_options(const TrainingTexts& texts);

}  // namespace rankwright::planner
