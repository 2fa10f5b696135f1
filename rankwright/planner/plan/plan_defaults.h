// Defaults of a plan search: the job if nothing states it, the search problem of a config, and a
// catalog system with more units. Every default is added to the assumptions.
#pragma once

#include <optional>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/search/problem.h"

namespace rankwright::planner {

/// Returns the target of a search: the stated one; else that of the plan file, by its format, its
/// software.target or its software.framework; else this project's runtime on CPUs, and otherwise
/// Megatron-LM. `any` if the file names a framework whose rules are not known.
rules::Target choose_search_target(std::optional<rules::Target> stated,
                                   const importer::PlanFile& file);

/// Returns the config of the job on `world` ranks, or on those that the draft states. Its plan is
/// meaningless. Requires: the draft has a model, and a cluster or a world.
plan::TrainingConfig resolve_job(const importer::Draft& stated, rules::Target target,
                                 std::optional<i64> world);

/// Returns the problem of finding a plan for `config`. Only the overlap that the draft states is
/// kept from the config's own plan.
search::Problem open_problem(plan::TrainingConfig config, const importer::Draft& stated,
                             const search::Limits& limits);

/// Returns the same system with at least this many devices. Empty if the cluster is not a catalog
/// system, or if that exceeds the maximum size of a cluster.
std::optional<cluster::Cluster> grow_cluster(const cluster::Cluster& cluster, i64 devices);

}  // namespace rankwright::planner
