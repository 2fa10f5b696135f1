// Proposes fixes and verifies them before they are shown: a hint that can be typed is one that was
// tried. A fix is the smallest change of the plan file after which the fault is gone and no new
// violation has come.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/plan.h"

namespace rankwright::rules {

/// Edits under `parallelism`, spelled as in the file.
Edit edit(std::string_view key, i64 value);
Edit edit(std::string_view key, std::string value);

/// What else a repaired config has to satisfy.
using Wanted = std::function<bool(const plan::TrainingConfig&)>;

/// Other degrees tp x pp x dp for the same world that bring no new violation, lose `why`, and
/// satisfy `wanted`: fewest keys changed first, then the smallest factors, pp before dp before tp.
/// Empty where there are none. Batches that the file left open follow the degrees.
std::vector<Edit> other_degrees(const plan::TrainingConfig& config,
                                plan::ConstraintViolation::Why why, const Wanted& wanted = {});

/// The same config with other degrees, and with what was left open filled in again.
plan::TrainingConfig with_degrees(const plan::TrainingConfig& config, i64 tp, i64 pp, i64 dp);

/// `after` has no violation that `before` did not have, and not `why`.
bool heals(const plan::TrainingConfig& before, const plan::TrainingConfig& after,
           plan::ConstraintViolation::Why why);

}  // namespace rankwright::rules
