#include "rankwright/report/plan/training_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"

namespace rankwright::report {

std::string format_money(double amount, const planner::Price& price) {
  const std::string figure =
      amount < 1000 ? fmt::format("{:.2f}", amount) : format_short_count(amount);
  const std::string after = price.after.empty() ? "" : " " + price.after;
  return price.before + figure + after;
}

namespace {

/// Compares a cost with the budget, given the relative error of the cost.
std::string describe_budget(double cost, double within, const planner::Price& budget) {
  const double over = cost - budget.amount;
  const bool open = std::abs(over) <= within * cost;
  return fmt::format("; {} the budget of {}{}{}", over > 0 ? "exceeds" : "within",
                     format_money(budget.amount, budget),
                     over > 0 ? fmt::format(" by {}", format_money(over, budget)) : "",
                     open ? ", within the margin of error" : "");
}

}  // namespace

std::string describe_training_run(const planner::Training& run,
                                  const planner::TrainingRequest& ask) {
  const std::string steps =
      run.steps < 9e15 ? count(i64(run.steps)) : format_short_count(run.steps);
  std::string text = fmt::format("{} tokens: {} steps, {} ±{}, {} GPU-hours",
                                 format_short_count(*ask.tokens), steps, show(run.time),
                                 show(run.within * run.time), format_short_count(run.gpu_hours));
  if (run.cost)
    text += fmt::format(", {} ±{} at {} per GPU-hour", format_money(*run.cost, *ask.price),
                        format_money(run.within * *run.cost, *ask.price),
                        format_money(ask.price->amount, *ask.price));
  if (ask.budget && run.cost) text += describe_budget(*run.cost, run.within, *ask.budget);
  if (!run.deadline) return text;
  const Seconds late = run.time - *ask.deadline;
  const bool open = *run.deadline == planner::DeadlineVerdict::within_error;
  return fmt::format("{}; {} the {} target{}{}", text, late.value > 0 ? "misses" : "meets",
                     format_deadline(*ask.deadline),
                     late.value > 0 ? fmt::format(" by {}", show(late)) : "",
                     open ? ", within the margin of error" : "");
}

nlohmann::ordered_json make_training_json(const std::optional<planner::Training>& run,
                                          const planner::TrainingRequest& ask) {
  if (!run) return nullptr;
  nlohmann::ordered_json json = {{"tokens", *ask.tokens},
                                 {"steps", run->steps},
                                 {"seconds", run->time.value},
                                 {"within", run->within},
                                 {"gpu_hours", run->gpu_hours}};
  if (run->cost) {
    json["cost"] = *run->cost;
    json["price_per_gpu_hour"] = ask.price->amount;
    json["currency"] = ask.price->before + ask.price->after;
  }
  if (run->deadline) {
    json["deadline_seconds"] = ask.deadline->value;
    json["deadline"] = name(*run->deadline);
  }
  return json;
}

std::string format_deadline(Seconds deadline) {
  return fmt::format("{:g}-day", deadline.value / 86400);
}

}  // namespace rankwright::report
