// Estimates a whole training run on a plan: steps, days, GPU-hours and cost, from the time of one
// step. Failures and restarts are left to `explain --fail`, sentences to
// report/plan/training_text.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/cost/estimate.h"

namespace rankwright::planner {

/// The price of a GPU-hour, with its currency as typed: "$" before, "EUR" after.
struct Price {
  double amount = 0;
  std::string before{}, after{};
};

/// How many tokens to train on, at which price, by when, and for how much at most.
struct TrainingRequest {
  std::optional<double> tokens{};
  std::optional<Price> price{};
  std::optional<Seconds> deadline{};
  std::optional<Price> budget{};  // for all of training; needs a price
};

/// Whether a training run meets its deadline, given the error of its estimate.
enum class DeadlineVerdict : unsigned char {
  meets,         // at every error within the band
  within_error,  // at some error within the band
  misses,        // at none
};
/// Returns "meets", "within error" or "misses".
std::string_view name(DeadlineVerdict verdict);

/// The figures of a whole training run.
struct Training {
  double steps = 0;   // rounded up
  Seconds time{};     // of all steps
  double within = 0;  // relative error of `time`, equal to that of one step
  double gpu_hours = 0;
  std::optional<double> cost{};
  std::optional<DeadlineVerdict> deadline{};  // empty without a deadline
};

/// Returns the figures of the training run; empty without a number of tokens. Requires: a config
/// without constraint violations.
std::optional<Training> estimate_training(const plan::TrainingConfig& config,
                                          const cost::Estimate& estimate,
                                          const TrainingRequest& ask);

/// Returns whether the run costs more than the budget. False without a cost or a budget.
bool exceeds_budget(const std::optional<Training>& run, const TrainingRequest& ask);

/// Returns whether the run misses its deadline at every error of the estimate, or exceeds the
/// budget: a training that was asked for and cannot be had.
bool misses_target(const std::optional<Training>& run, const TrainingRequest& ask);

}  // namespace rankwright::planner
