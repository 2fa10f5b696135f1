// The figures of a whole training run (planner/plan/training.h) as one sentence.
#pragma once

#include <string>

#include "rankwright/planner/plan/training.h"

namespace rankwright::report {

/// Formats an amount of money: "$1.2 M", "1.2 M EUR".
std::string format_money(double amount, const planner::Price& price);

/// Describes a training run: "15 T tokens: 3,576,279 steps, 276 days ±36 days, 424 k GPU-hours,
/// $0.89 M ±0.12 M".
std::string describe_training_run(const planner::Training& run,
                                  const planner::TrainingRequest& ask);

/// Returns "90-day".
std::string format_deadline(Seconds deadline);

}  // namespace rankwright::report
