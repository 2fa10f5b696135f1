#include "cli/training_flags.h"

#include "rankwright/planner/plan/training_options.h"

namespace rankwright::cli {

void TrainingFlags::add_to(Options& options) {
  options.add("--tokens", tokens, "tokens of the whole run, for GPU-hours: 15T, 300B");
  options.add("--price", price, "with --tokens: price of a GPU-hour: 2.10, $2.10, 2.10 EUR");
}

void TrainingFlags::add_deadline_to(Options& options) {
  options.add("--days", days, "with --tokens: deadline of the whole run in days");
}

planner::Outcome<planner::TrainingRequest> TrainingFlags::read() const {
  return planner::read_training_options({.tokens = tokens, .price = price, .days = days});
}

}  // namespace rankwright::cli
