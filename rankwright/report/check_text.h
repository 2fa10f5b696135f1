// The summary that `check` prints above the findings of a plan or a schedule without errors.
#pragma once

#include <string>

#include "rankwright/planner/check.h"

namespace rankwright {

/// Returns the degrees as a product, what the plan comes to, and what was proved of its pipeline.
/// Empty where there are errors.
std::string check_summary(const CheckAnswer& answer);

}  // namespace rankwright
