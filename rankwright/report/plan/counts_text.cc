#include "rankwright/report/plan/counts_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/config_json.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

/// Returns the first row that fits, which scaling is relative to; null if none does.
const search::CountRow* find_first_fit(const planner::PlansByCount& view) {
  for (const search::CountRow& row : view.rows)
    if (row.plan) return &row;
  return nullptr;
}

/// Computes the per-GPU throughput of `row` relative to `base`.
double compute_scaling(const search::CountRow& base, const search::CountRow& row) {
  return double(base.gpus) * base.plan->time().value / (double(row.gpus) * row.plan->time().value);
}

/// Returns the layout of a row, or that fewer GPUs are as fast.
std::string describe_row(const planner::PlansByCount& view, std::size_t k) {
  const search::CountRow& row = view.rows[k];
  const std::optional<std::size_t> other = find_faster_on_fewer(view, k);
  if (!other) return brief_with_verdict(*row.plan);
  const search::CountRow& fewer = view.rows[*other];
  return fmt::format("{} than {} GPUs: leave {} idle",
                     fewer.plan->time() < row.plan->time() ? "slower" : "no faster",
                     count(fewer.gpus), count(row.gpus - fewer.gpus));
}

Table make_counts_table(const planner::PlansByCount& view) {
  const bool trained = view.training.tokens.has_value(), paid = view.training.price.has_value();
  Table table{{{"GPUs", kRight},
               {"step", kRight},
               {"tokens/s/GPU", kRight},
               {"scaling", kRight},
               {"memory", kRight}}};
  if (trained) table.columns.insert(table.columns.end(), {{"time", kRight}, {"GPU-hours", kRight}});
  if (paid) table.columns.push_back({"cost", kRight});
  table.columns.push_back({"plan"});
  const search::CountRow* const base = find_first_fit(view);
  for (std::size_t k = 0; k < view.rows.size(); ++k) {
    const search::CountRow& row = view.rows[k];
    std::vector<std::string> cells{count(row.gpus)};
    if (!row.plan) {
      cells.resize(table.columns.size(), "-");
      cells.back() = row.leanest ? fmt::format("{}: the leanest needs {}",
                                               name(cost::MemoryVerdict::does_not_fit),
                                               show_memory(row.leanest->memory))
                                 : "no layout divides them";
      table.rows.push_back(std::move(cells));
      continue;
    }
    const search::EvaluatedPlan& plan = *row.plan;
    cells.insert(
        cells.end(),
        {show(plan.time()), format_short_count(cost::tokens_per_second(plan.config, plan.time())),
         percent(compute_scaling(*base, row)), show_memory(plan.estimate.memory.total())});
    if (const std::optional<planner::Training>& run = view.runs[k]) {
      cells.insert(cells.end(), {show(run->time), format_short_count(run->gpu_hours)});
      if (run->cost) cells.push_back(format_money(*run->cost, *view.training.price));
    }
    cells.push_back(describe_row(view, k));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Says what to try if every row misses the deadline.
std::string describe_next_counts(const planner::PlansByCount& view) {
  if (const std::optional<search::Range> next = find_next_counts(view))
    return fmt::format(" Next: --gpus {}..{} ({} GPUs meet the target if scaling stays as it is).",
                       next->min, next->max, count(next->min));
  return " More GPUs are not faster here: a larger --global-batch uses more of them.";
}

/// Explains why no row is chosen.
std::string describe_no_choice(const planner::PlansByCount& view) {
  const planner::TrainingRequest& ask = view.training;
  const std::optional<std::size_t> shortest = find_shortest_run(view);
  if (shortest && ask.deadline) {
    const planner::Training& run = *view.runs[*shortest];
    return fmt::format("All of these miss the {} target: the shortest takes {} ±{}, on {} GPUs.{}",
                       format_deadline(*ask.deadline), show(run.time), show(run.within * run.time),
                       count(view.rows[*shortest].gpus), describe_next_counts(view));
  }
  const planner::Training* cheapest = nullptr;
  for (const std::optional<planner::Training>& run : view.runs)
    if (run && run->cost && (cheapest == nullptr || *run->cost < *cheapest->cost)) cheapest = &*run;
  if (cheapest == nullptr || !ask.budget) return "Nothing fits on any of these.";
  return fmt::format("All of these exceed the budget of {}: the cheapest costs {} ±{}.",
                     format_money(ask.budget->amount, *ask.budget),
                     format_money(*cheapest->cost, *ask.price),
                     format_money(cheapest->within * *cheapest->cost, *ask.price));
}

std::string describe_choice(const planner::PlansByCount& view) {
  if (!view.chosen) return describe_no_choice(view);
  const bool deadline = view.training.deadline.has_value();
  const search::CountRow& row = view.rows[*view.chosen];
  const std::optional<planner::Training>& run = view.runs[*view.chosen];
  std::string text =
      deadline ? fmt::format(
                     "{} GPUs are the fewest of these that {}meet the {} target", count(row.gpus),
                     view.has_verdict(*view.chosen, planner::DeadlineVerdict::within_error) ? "may "
                                                                                            : "",
                     format_deadline(*view.training.deadline))
               : fmt::format("{} GPUs are the fastest of these", count(row.gpus));
  if (run) text += ": " + describe_training_run(*run, view.training);
  return text + ".";
}

/// Says that the framework whose calibration was used cannot run the chosen plan; empty if it can.
/// Only for counts: the text of a single plan lists every framework.
std::string describe_unrunnable(const planner::PlansByCount& view) {
  if (!view.chosen || view.problem.limits.target != rules::Target::any) return {};
  const plan::TrainingConfig& config = view.chosen_plan().config;
  for (const planner::TargetVerdict& verdict : view.targets) {
    const bool refused =
        std::any_of(verdict.broken.begin(), verdict.broken.end(),
                    [](const rules::Rule* rule) { return rule->page.severity == Severity::error; });
    if (refused && verdict.target->software == config.software.name)
      return fmt::format("{} cannot run this plan: --for {}.", config.software.name,
                         verdict.target->name);
  }
  return {};
}

std::string write_headline(const planner::PlansByCount& view) {
  if (view.rows.size() < 2) return format_headline(view.problem.config);
  return format_range_headline(view.problem.config, view.rows.front().gpus, view.rows.back().gpus);
}

/// Explains rows and columns.
std::string describe_table(const planner::PlansByCount& view) {
  std::string text =
      "Each row is the plan that --gpus N gives for this batch; scaling is the per-GPU throughput "
      "relative to the first row. Rows are 1, 2, 3, 4, 6, 8, 12, ... nodes, the divisors of a "
      "node, and both ends of the range";
  text += view.training.deadline ? ", then nodes below the first that meets the target." : ".";
  if (view.training.tokens) text += " " + std::string(kWithoutFailures);
  return text;
}

std::string describe_stopped_counts(const planner::PlansByCount& view) {
  const std::string budget = describe_budget(view.stopped, view.budget);
  return "Stopped: larger counts were not looked at." + (budget.empty() ? "" : " " + budget);
}

}  // namespace

std::string render_counts_text(const planner::PlansByCount& view, const Paint& paint,
                               std::size_t width) {
  std::string out = paint.bold(write_headline(view)) + "\n";
  const std::string assumed = describe_assumptions(view.problem.config);
  if (!assumed.empty()) out += wrap_text("assumed: " + assumed, width - 2, "  ");
  out += "\n";
  out += format_remarked_table(make_counts_table(view), paint, "  ", width) + "\n";
  out += wrap_text(describe_choice(view), width - 2, "  ");
  if (view.chosen) {
    const search::EvaluatedPlan& plan = view.chosen_plan();
    out += break_lines(format_degree_tags(plan.config), " · ", " ·", width, "  ");
    out += break_lines(figures(plan.config, plan.estimate), "   ", "", width, "  ");
  }
  const std::string unrunnable = describe_unrunnable(view);
  if (!unrunnable.empty()) out += wrap_text(unrunnable, width - 2, "  ");
  if (view.stopped != planner::StopReason::none)
    out += wrap_text(describe_stopped_counts(view), width - 2, "  ");
  return out + wrap_text(describe_table(view), width - 2, "  ");
}

std::string render_counts_markdown(const planner::PlansByCount& view) {
  std::string out = "# " + escape_markdown(write_headline(view)) + "\n\n" +
                    make_counts_table(view).markdown() + "\n";
  const auto add = [&](const std::string& paragraph) {
    out += escape_markdown(paragraph) + "\n\n";
  };
  add(describe_choice(view));
  const std::string unrunnable = describe_unrunnable(view);
  if (!unrunnable.empty()) add(unrunnable);
  if (view.stopped != planner::StopReason::none) add(describe_stopped_counts(view));
  const std::string assumed = describe_assumptions(view.problem.config);
  if (!assumed.empty()) add("Assumed: " + assumed);
  return out + escape_markdown(describe_table(view)) + "\n";
}

std::string make_counts_json(const planner::PlansByCount& view) {
  ordered_json rows = ordered_json::array();
  const search::CountRow* const base = find_first_fit(view);
  for (std::size_t k = 0; k < view.rows.size(); ++k) {
    const search::CountRow& row = view.rows[k];
    ordered_json json = {{"gpus", row.gpus}, {"fits", row.plan.has_value()}};
    if (row.plan) {
      const search::EvaluatedPlan& plan = *row.plan;
      json["brief"] = brief(plan.config);
      json["plan"] = make_plan_json(plan.config);
      json["step_seconds"] = plan.time().value;
      json["within"] = plan.estimate.step_band.within;
      json["tokens_per_second_per_device"] = cost::tokens_per_second(plan.config, plan.time());
      json["mfu"] = cost::mfu(plan.config, plan.time());
      json["scaling"] = compute_scaling(*base, row);
      json["memory_bytes"] = plan.estimate.memory.total().value;
      json["verdict"] = name(plan.estimate.verdict());
      if (const std::optional<std::size_t> other = find_faster_on_fewer(view, k))
        json["faster_on_gpus"] = view.rows[*other].gpus;
    } else if (row.leanest) {
      json["leanest_bytes"] = row.leanest->memory.value;
    }
    if (const std::optional<planner::Training>& run = view.runs[k]) {
      json["training_seconds"] = run->time.value;
      json["gpu_hours"] = run->gpu_hours;
      if (run->cost) json["cost"] = *run->cost;
      if (run->deadline) json["deadline"] = name(*run->deadline);
    }
    rows.push_back(std::move(json));
  }
  const plan::TrainingConfig& asked = view.problem.config;
  const ordered_json json = {
      {"schema", "rankwright.counts/1"},
      {"model", make_model_json(asked)},
      {"cluster", make_cluster_json(asked)},
      {"job", make_job_json(asked)},
      {"target", make_target_json(view.problem.limits.target)},
      {"assumed", make_assumed_json(asked)},
      {"stopped", view.stopped != planner::StopReason::none},
      {"stop_reason", name(view.stopped)},
      {"counts", rows},
      {"chosen_gpus",
       view.chosen ? ordered_json(view.rows[*view.chosen].gpus) : ordered_json(nullptr)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
