// Searches for small changes to a plan after which it fits in memory: one change first (a key or a
// set of degrees), then two together, then three. Each candidate is estimated again, a few hundred
// estimates at most. This is not a search for the best plan, but for what a user could type next.
#pragma once

#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/rules/change.h"

namespace rankwright::rules {

/// A change that fits in memory, and the estimate of the changed plan.
struct FittingChange {
  Change change;
  cost::Estimate estimate;

  /// Returns the step time per sequence. Comparable between changes that alter the global batch,
  /// which follows the degrees if the file does not set it.
  Seconds time_per_sequence() const;
};

/// Returns the ZeRO stages above 0 that `target` supports, in ascending order.
std::vector<int> supported_zero_stages(Target target);

/// Returns up to `max` changes that fit in memory and add no error, including those of the rules of
/// `target`. Changes that fit even at the upper end of the memory estimate's error band come first;
/// then the fastest per sequence. With `with_margin`, only changes that fit with that margin count.
std::vector<FittingChange> find_cheapest_fits(const plan::TrainingConfig& config, Target target,
                                              std::size_t max, bool with_margin = false);

}  // namespace rankwright::rules
