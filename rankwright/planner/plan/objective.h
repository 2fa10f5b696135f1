// Objectives other than speed: the longest sequence, or the largest micro-batch, for which a plan
// fits.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "rankwright/search/problem.h"

namespace rankwright::planner {

enum class Objective : unsigned char { time, max_seq, max_batch };
std::span<const std::string_view> objective_names();
std::string_view name(Objective);

/// Returns the problem with a sequence of `value` tokens, or with at least `value` sequences per
/// micro-batch and as many per device in the global batch.
search::Problem set_objective(const search::Problem& problem, Objective objective, i64 value);

/// Returns the largest value for which `fits`: a multiple of 1,024 tokens up to what the model was
/// made for, or a micro-batch. Nothing if the smallest does not fit.
std::optional<i64> find_largest(const search::Problem& problem, Objective objective,
                                const std::function<bool(const search::Problem&)>& fits);

}  // namespace rankwright::planner
