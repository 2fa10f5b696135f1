#include "rankwright/report/training.h"

#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"

namespace rankwright {

std::optional<Training> training(const Setup& setup, const Estimate& estimate,
                                 const TrainingAsk& ask) {
  if (!ask.tokens) return std::nullopt;
  const double each = double(setup.job.global_batch) * double(setup.job.sequence);
  Training run{.steps = std::ceil(*ask.tokens / each), .within = estimate.step_band.within};
  run.time = run.steps * estimate.time();
  run.gpu_hours = double(setup.world) * run.time.value / 3600;
  if (ask.price) run.cost = run.gpu_hours * ask.price->amount;
  if (ask.deadline) run.in_time = run.time <= *ask.deadline;
  return run;
}

std::string money(double amount, const Price& price) {
  const std::string figure = amount < 1000 ? fmt::format("{:.2f}", amount) : short_count(amount);
  const std::string after = price.after.empty() ? "" : " " + price.after;
  return price.before + figure + after;
}

std::string training_text(const Training& run, const TrainingAsk& ask) {
  const std::string steps = run.steps < 9e15 ? count(i64(run.steps)) : short_count(run.steps);
  std::string text =
      fmt::format("{} tokens: {} steps, {} ±{}, {} GPU-hours", short_count(*ask.tokens), steps,
                  show(run.time), show(run.within * run.time), short_count(run.gpu_hours));
  if (run.cost)
    text += fmt::format(", {} ±{} at {} a GPU-hour", money(*run.cost, *ask.price),
                        money(run.within * *run.cost, *ask.price),
                        money(ask.price->amount, *ask.price));
  if (!run.in_time) return text;
  const Seconds late = run.time - *ask.deadline;
  const bool open = std::abs(late.value) <= run.within * run.time.value;
  return text +
         (*run.in_time ? fmt::format("; in time for {}", show(*ask.deadline))
                       : fmt::format("; {} too late for {}", show(late), show(*ask.deadline))) +
         (open ? ", within the error" : "");
}

}  // namespace rankwright
