// The ranks of each communicator of a plan. Unlike mesh/, which describes the embedding ends and
// the mirrored pairs of a pipeline by their whole pp group, it returns the two ranks that
// communicate.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/mesh/group.h"
#include "rankwright/plan/plan.h"

namespace rankwright::runtime {

/// Returns the ranks of the group of `kind` that contains `rank`, ascending. Returns only `rank` if
/// it has no partner: a middle stage for `edges`, the middle stage of an odd pipeline for `mirror`.
std::vector<i64> members(const plan::Plan& plan, mesh::GroupKind kind, i64 rank);

/// Returns the outermost cluster level between any two members; -1 for a single member.
int find_level_across(const plan::TrainingConfig& config, const std::vector<i64>& members);

}  // namespace rankwright::runtime
