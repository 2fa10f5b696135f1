// The figures of a whole training run (planner/plan/training.h) as one sentence.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "rankwright/planner/plan/training.h"

namespace rankwright::report {

/// Formats an amount of money: "$1.2 M", "1.2 M EUR".
std::string format_money(double amount, const planner::Price& price);

/// Describes a training run: "15 T tokens: 3,576,279 steps, 276 days ±36 days, 424 k GPU-hours,
/// $0.89 M ±0.12 M".
std::string describe_training_run(const planner::Training& run,
                                  const planner::TrainingRequest& ask);

/// Says that the figures of a training run leave out failures, and what estimates them.
inline constexpr std::string_view kWithoutFailures =
    "Time and cost are without failures and restarts: rankwright explain PLAN --fail 0.";

/// Returns the figures as JSON; null without a run.
nlohmann::ordered_json make_training_json(const std::optional<planner::Training>& run,
                                          const planner::TrainingRequest& ask);

/// Returns "90-day".
std::string format_deadline(Seconds deadline);

}  // namespace rankwright::report
