// Proposes fixes and verifies them before they are shown. A fix is the smallest change to the plan
// file after which the fault is gone and no new violation has appeared.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/plan.h"

namespace rankwright::rules {

/// Returns an edit that sets `key`, a full path such as "parallelism.tp_size".
Edit edit(std::string_view key, i64 value);
Edit edit(std::string_view key, std::string value);

/// A further condition that a repaired config must meet; empty means none.
using ConfigPredicate = std::function<bool(const plan::TrainingConfig&)>;

/// Returns edits to other degrees tp x pp x dp with the same world size that remove `why`, add no
/// violation and satisfy `wanted`; empty if there are none. Candidates are tried by the number of
/// changed keys, then by the size of the factors, then pp before dp before tp. A global batch that
/// the file does not set follows the degrees.
std::vector<Edit> find_other_degrees(const plan::TrainingConfig& config,
                                     plan::ConstraintViolation::Why why,
                                     const ConfigPredicate& wanted = {});

/// Returns the smallest change of degrees, global batch and sequence after which the config has no
/// violation at all; empty if there is none.
std::vector<Edit> find_joint_repair(const plan::TrainingConfig& config);

/// Returns the config with other degrees; values that the file does not set are derived again.
plan::TrainingConfig with_degrees(const plan::TrainingConfig& config, i64 tp, i64 pp, i64 dp);

/// Returns whether `after` has no kind of violation that `before` lacks, and does not have `why`.
bool removes_violation(const plan::TrainingConfig& before, const plan::TrainingConfig& after,
                       plan::ConstraintViolation::Why why);

}  // namespace rankwright::rules
