// Defaults of a search for a plan: the job where nothing states it, the problem that a config
// leaves open, and a catalog system with more units. Every default is noted among the assumptions.
#pragma once

#include <optional>

#include "rankwright/import/plan/draft.h"
#include "rankwright/search/problem.h"

namespace rankwright::planner {

/// Returns the config of the job on `world` ranks, or on those that the draft states. Its plan has
/// no meaning. Requires: the draft has a model, and a cluster or a world.
plan::TrainingConfig resolve_job(const importer::Draft& stated, rules::Target target,
                                 std::optional<i64> world);

/// Returns the problem of finding a plan for `config`. Of the config's own plan only the overlap
/// that the draft states is kept.
search::Problem open_problem(plan::TrainingConfig config, const importer::Draft& stated,
                             const search::Limits& limits);

/// Returns the same system with at least this many devices; empty where the cluster is not a
/// catalog system, or where that is more than a cluster can have.
std::optional<cluster::Cluster> grow_cluster(const cluster::Cluster& cluster, i64 devices);

}  // namespace rankwright::planner
