// Changes of a plan after which it fits, each tried by pricing the plan again: one key or pair of
// degrees first, then two together, then three. Not a search for the best plan: what somebody would
// type next. Some hundred estimates at most.
#pragma once

#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/rules/change.h"

namespace rankwright::rules {

struct Fitting {
  Change change;
  cost::Estimate estimate;

  /// Of a sequence: a batch that the file leaves open follows the degrees, and steps with it.
  Seconds time_each() const;
};

/// The ZeRO stages that a target has, least first.
std::vector<int> zero_stages(Target target);

/// Up to `most` that fit and break no rule that `config` does not break, for `target` too. Those
/// that fit whatever the error of the ledger come first, then the fastest. `surely` leaves out the
/// others.
std::vector<Fitting> cheapest_fits(const plan::TrainingConfig& config, Target target,
                                   std::size_t max, bool surely = false);

}  // namespace rankwright::rules
