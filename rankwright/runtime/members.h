// Which ranks a communicator holds, as the plan has them. Apart from mesh/: there the edges and the
// mirrored pairs of a pipeline are described as their whole pp group, and here they are two ranks.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/mesh/group.h"
#include "rankwright/plan/plan.h"

namespace rankwright::runtime {

/// The ranks, ascending, that make up the group of `kind` which `rank` is in. Just itself where it
/// has no partner: between the edges of a pipeline, in the middle of a mirrored one.
std::vector<i64> members(const plan::Plan& plan, mesh::GroupKind kind, i64 rank);

/// The outermost level of the cluster that lies between any two members; -1 for one.
int level_across(const plan::TrainingConfig& config, const std::vector<i64>& members);

}  // namespace rankwright::runtime
