// How far a plan is from the published runs that estimates reproduce. Far from all of them an
// estimate is less accurate (X14), and among plans that tie the search prefers one that is near.
#pragma once

#include "rankwright/catalog/bands.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// Returns whether a ZeRO stage counts as FSDP in a layout (X14): its data ranks communicate in
/// every microbatch. ZeRO-2 counts only with experts: it has no published runs there.
bool is_fsdp(bool sparse, int zero);

catalog::ValidatedLayout make_layout(const plan::TrainingConfig& config);

/// Returns the distance of two layouts (X14): a doubling of one degree of parallelism counts 1, a
/// doubling of the sequence or of the parameters one half, another generation of GPUs 1, FSDP 1 or
/// with experts 3. Infinite between a dense model and one with experts.
double layout_distance(const catalog::ValidatedLayout& a, const catalog::ValidatedLayout& b);

/// Layouts up to this distance from a published run are near it: up to here, errors on held-out
/// runs do not grow with the distance.
inline constexpr double kNearLayout = 2;

/// Returns whether a published run is near.
bool near_validated(const catalog::ValidatedLayout& layout);
bool near_validated(const plan::TrainingConfig& config);

}  // namespace rankwright::cost
