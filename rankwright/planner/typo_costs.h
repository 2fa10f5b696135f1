// Adds to a finding about a mistyped key what the typo costs: the file is read again with the key
// spelled right, and both plans are estimated.
#pragma once

#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// Adds a note to every finding with a respelling: the plan keys that it would change, and by how
/// much memory and step time. `findings` are those of `input`, which `source` was read into.
void add_typo_costs(const PlanSource& source, const PlanInput& input, Diagnostics& findings);

}  // namespace rankwright::planner
