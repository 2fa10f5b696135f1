#include "rankwright/report/page/advice_sentences.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

using Kind = planner::Advice::Kind;

constexpr std::string_view kNewFile = "better.yaml";

std::string format_ratio(double after, double now) {
  return format_difference(Seconds{after}, Seconds{now});
}

double gpu_hours_per_step(const plan::TrainingConfig& config, Seconds step) {
  return double(config.world) * step.value / 3600;
}

/// Lists step, memory, GPUs if they change, and GPU-hours: those of the whole run with their cost
/// if its tokens are known, else those of a step.
std::vector<Gain> list_gains(const planner::PlanReport& report, const search::EvaluatedPlan& to) {
  const cost::Estimate& e = report.explain_view.estimate;
  std::vector<Gain> all = {
      {"step", show(report.time()), show(to.time()), format_difference(to.time(), report.time())},
      {"memory", show_memory(e.memory.total(), e.capacity),
       show_memory(to.estimate.memory.total(), to.estimate.capacity), ""}};
  if (to.config.world != report.config.world)
    all.push_back({"GPUs", count(report.config.world), count(to.config.world), ""});
  const std::optional<planner::Training>&now = report.run, &after = report.advice.run;
  const auto add = [&](std::string_view name, double before, double later, const auto& text) {
    all.push_back({name, text(before), text(later), format_ratio(later, before)});
  };
  if (!now || !after) {
    add("GPU-hours per step", gpu_hours_per_step(report.config, report.time()),
        gpu_hours_per_step(to.config, to.time()), format_short_count);
    return all;
  }
  add("GPU-hours", now->gpu_hours, after->gpu_hours, format_short_count);
  if (now->cost && after->cost)
    add("cost", *now->cost, *after->cost,
        [&](double amount) { return format_money(amount, *report.training.price); });
  return all;
}

std::string name_frameworks(const std::vector<const rules::TargetRow*>& found) {
  if (found.size() == 1) return fmt::format("{} runs it.", found.front()->checked);
  std::string names;
  for (const rules::TargetRow* row : found)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row->name);
  return names.empty() ? "No framework with rules in Rankwright runs it without a warning."
                       : fmt::format("Frameworks that run it: {}.", names);
}

std::string describe_lack(const planner::PlanReport& report) {
  if (!report.config.reference_model)
    return "Search for alternatives: this page was written without a search.";
  return fmt::format(
      "Name the model. Without it, {} is assumed, and other layouts cannot be compared.",
      report.config.model.name);
}

std::string describe_keeping(const planner::PlanReport& report) {
  const search::Answer& found = report.search->answer;
  const bool chosen = planner::find_rivals(report.evaluated(), found).chosen;
  if (const std::string reason = describe_preference(*report.search, "This plan");
      chosen && !reason.empty())
    return "Keep this plan. " + reason;
  return fmt::format(
      "Keep this plan. {}: {} layouts were {}.",
      found.complete ? "No better layout exists in the search space" : "No better layout was found",
      format_short_count(double(found.stats.candidates)),
      found.complete ? "searched" : "searched before the search was stopped");
}

std::string describe_growth(const planner::PlanReport& report) {
  const planner::PlanAnswer& search = *report.search;
  std::string text = search.answer.complete
                         ? fmt::format("No layout fits {} GPUs.", count(report.config.world))
                         : "No layout that fits was found yet: the search was stopped.";
  if (search.leanest)
    text +=
        fmt::format(" The smallest needs {} on PP rank {}: {}.",
                    show_memory(search.leanest->memory_estimate.total(), search.problem.capacity),
                    search.leanest->memory_estimate.pp_rank, brief(search.leanest->config));
  if (!report.advice.plan) return text + " Use more GPUs, or GPUs with more memory.";
  const plan::TrainingConfig& fits = report.advice.plan->config;
  return text + fmt::format(" {} GPUs are enough: {}.", count(fits.world), brief(fits));
}

std::string describe_advice(const planner::PlanReport& report) {
  switch (report.advice.kind) {
    case Kind::change:
      return fmt::format("Change to {}{}.", brief(report.advice.plan->config),
                         report.explain_view.estimate.fits() ? "" : ", which fits");
    case Kind::benchmark:
      return fmt::format(
          "Too close to call: benchmark {} before changing. The difference is within the {} margin "
          "of error.",
          brief(report.advice.plan->config), percent(report.search->answer.band));
    case Kind::keep:
      return describe_keeping(report);
    case Kind::grow:
      return describe_growth(report);
    case Kind::inform:
      break;
  }
  return describe_lack(report);
}

/// Returns the command that writes the advised plan, exports the kept one, or adds what is missing.
std::string format_command(const planner::PlanReport& report) {
  const planner::Advice& advice = report.advice;
  const std::string file = quote_shell_path(report.name);
  if (advice.kind == Kind::inform)
    return fmt::format(
        "rankwright report {}{}{}", file, report.overrides,
        report.config.reference_model ? " --model " + shell_word(report.config.model.name) : "");
  if (advice.kind == Kind::keep)
    return advice.frameworks.empty()
               ? "rankwright explain " + file
               : fmt::format("rankwright export {} --to {}", file, advice.frameworks.front()->name);
  std::string larger;
  if (advice.kind == Kind::grow) {
    const cluster::Cluster& cluster = report.config.cluster;
    const std::string system = find_system_name(cluster);
    if (!advice.plan || system.empty()) return {};
    const i64 unit = cluster.devices() / cluster.levels.back().arity;
    larger =
        fmt::format(" --cluster \"{} x {}\"", system, ceil_div(advice.plan->config.world, unit));
  }
  return fmt::format("rankwright plan {}{}{} -o {}", file, report.overrides, larger, kNewFile);
}

}  // namespace

AdviceCard make_advice_card(const planner::PlanReport& report) {
  const planner::Advice& advice = report.advice;
  AdviceCard card{.sentence = describe_advice(report), .command = format_command(report)};
  if (advice.plan || advice.kind == Kind::keep) card.runs = name_frameworks(advice.frameworks);
  if (!advice.plan) return card;
  const plan::TrainingConfig& to = advice.plan->config;
  card.gains = list_gains(report, *advice.plan);
  card.file =
      exporter::write_plan_yaml(to, {.head = {format_headline(to), format_degree_tags(to)}});
  return card;
}

}  // namespace rankwright::report
