// A whole training run on a plan: steps, days, GPU-hours and money, from what a step takes. What is
// not known is not guessed: failures and restarts are `explain --fail`.
#pragma once

#include <optional>
#include <string>

#include "rankwright/cost/estimate.h"

namespace rankwright {

/// Of a GPU-hour, with its currency as it was typed: "$" before, " EUR" behind.
struct Price {
  double amount = 0;
  std::string before{}, after{};
};

struct TrainingAsk {
  std::optional<double> tokens{};
  std::optional<Price> price{};
  std::optional<Seconds> deadline{};
};

struct Training {
  double steps = 0;   // whole ones
  Seconds time{};     // of all steps, one after another
  double within = 0;  // the band of a step's time is the band of all of them
  double gpu_hours = 0;
  std::optional<double> cost{};
  std::optional<bool> in_time{};  // where there is a deadline
};

/// Nothing where no number of tokens was asked for. The setup has no misfit.
std::optional<Training> training(const Setup& setup, const Estimate& estimate,
                                 const TrainingAsk& ask);

/// "$1.2 M", "1.2 M EUR".
std::string money(double amount, const Price& price);

/// "15 T tokens: 3,576,279 steps, 276 days ±36 days, 424 k GPU-hours, $0.89 M ±0.12 M"
std::string training_text(const Training& run, const TrainingAsk& ask);

}  // namespace rankwright
