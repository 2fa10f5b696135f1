#include "rankwright/report/plan/training_text.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"

namespace rankwright::report {

std::string format_money(double amount, const planner::Price& price) {
  const std::string figure =
      amount < 1000 ? fmt::format("{:.2f}", amount) : format_short_count(amount);
  const std::string after = price.after.empty() ? "" : " " + price.after;
  return price.before + figure + after;
}

std::string describe_training_run(const planner::Training& run,
                                  const planner::TrainingRequest& ask) {
  const std::string steps =
      run.steps < 9e15 ? count(i64(run.steps)) : format_short_count(run.steps);
  std::string text = fmt::format("{} tokens: {} steps, {} ±{}, {} GPU-hours",
                                 format_short_count(*ask.tokens), steps, show(run.time),
                                 show(run.within * run.time), format_short_count(run.gpu_hours));
  if (run.cost)
    text += fmt::format(", {} ±{} at {} a GPU-hour", format_money(*run.cost, *ask.price),
                        format_money(run.within * *run.cost, *ask.price),
                        format_money(ask.price->amount, *ask.price));
  if (!run.deadline) return text;
  const Seconds late = run.time - *ask.deadline;
  const bool open = *run.deadline == planner::DeadlineVerdict::within_error;
  return fmt::format("{}; {} the {} target{}{}", text, late.value > 0 ? "misses" : "meets",
                     format_deadline(*ask.deadline),
                     late.value > 0 ? fmt::format(" by {}", show(late)) : "",
                     open ? ", within the margin of error" : "");
}

std::string format_deadline(Seconds deadline) {
  return fmt::format("{:g}-day", deadline.value / 86400);
}

}  // namespace rankwright::report
