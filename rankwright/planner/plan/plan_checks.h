// Finds contradictions of a request that would otherwise be ignored or leave nothing to search:
// limits against the model, the cluster and the number of GPUs. Messages name the option to change.
#pragma once

#include <optional>

#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// Returns the refusal of GPUs, memory or excluded hosts that the cluster does not have.
std::optional<Refusal> check_size(const PlanRequest& request, const cluster::Cluster& cluster);

/// Returns the refusal of a limit that another limit or the model makes meaningless.
std::optional<Refusal> check_limits(const search::Limits& limits, const model::Model& model);

/// Returns the refusal of fixed degrees that do not divide the number of GPUs.
std::optional<Refusal> check_degrees(const search::Limits& limits, i64 world);

}  // namespace rankwright::planner
