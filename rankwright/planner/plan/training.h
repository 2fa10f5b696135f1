// A whole training run on a plan: steps, days, GPU-hours and money, from the time of one step.
// Failures and restarts are left to `explain --fail`, sentences to report/plan/training_text.h.
#pragma once

#include <optional>
#include <string>

#include "rankwright/cost/estimate.h"

namespace rankwright::planner {

/// The price of a GPU-hour, with its currency as it was typed: "$" before, "EUR" after.
struct Price {
  double amount = 0;
  std::string before{}, after{};
};

/// How much is trained, for which price, and by when.
struct TrainingAsk {
  std::optional<double> tokens{};
  std::optional<Price> price{};
  std::optional<Seconds> deadline{};
};

/// The figures of a whole training run.
struct Training {
  double steps = 0;   // rounded up
  Seconds time{};     // of all steps, one after another
  double within = 0;  // relative error of `time`: the same as of one step
  double gpu_hours = 0;
  std::optional<double> cost{};
  std::optional<bool> in_time{};  // empty without a deadline
};

/// Returns the figures of the training that `ask` describes; empty without a number of tokens.
/// Requires: the config has no violation.
std::optional<Training> estimate_training(const plan::TrainingConfig& config,
                                          const cost::Estimate& estimate, const TrainingAsk& ask);

}  // namespace rankwright::planner
