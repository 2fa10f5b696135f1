// Keeps assumed values from becoming the ground of an error. An assumed number of ranks grows to
// the smallest that fits in memory, a placeholder model is one that the stated degrees divide, and
// an error that still rests on an assumption becomes a note or warning that names it.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// Returns the plan keys that decide the error `code`; empty if it depends on no value that readers
/// assume.
std::span<const std::string_view> list_grounds(std::string_view code);

/// If no model is given and the placeholder causes errors, replaces it by the first model of the
/// catalog that causes none. Requires: input.config.
void choose_placeholder(PlanInput& input);

/// If the number of ranks is assumed and the plan does not fit in memory, raises it to the smallest
/// number that fits. Leaves it if none does. Requires: input.config.
void raise_assumed_world(PlanInput& input);

/// Makes notes or warnings of the errors that rest on assumed values, and names these values.
void weaken_assumed(const PlanInput& input, Diagnostics& findings);

}  // namespace rankwright::planner
