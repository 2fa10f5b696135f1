#include "rankwright/report/page/report_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

/// Requires: the report has a search.
planner::Rivals compare_with_search(const planner::PlanReport& report) {
  return planner::find_rivals(report.evaluated(), report.search->answer);
}

/// Formats a time and its difference to the report's plan: "28.7 s (-55.9 %)".
std::string format_comparison(const search::EvaluatedPlan& other,
                              const planner::PlanReport& report) {
  return fmt::format("{} ({})", show(other.time()), format_difference(other.time(), report.time()));
}

std::string format_step(const planner::PlanReport& report) {
  return fmt::format("{} {}", show(report.time()),
                     format_band(report.explain_view.estimate.step_band));
}

/// Says that the plan does not fit, by how much, and what does.
std::string describe_overflow(const planner::PlanReport& report) {
  const cost::Estimate& e = report.explain_view.estimate;
  const std::string own =
      fmt::format("This plan {}; it needs {} on PP rank {}", rules::state_memory_verdict(e),
                  show_memory(e.memory.total(), e.capacity), e.memory.pp_rank);
  if (!report.search) return own;
  const planner::Rivals rivals = compare_with_search(report);
  if (rivals.best == nullptr) return own + ", and no layout that fits was found";
  return fmt::format("{}. The best layout that fits takes {} per step", own,
                     show(rivals.best->time()));
}

/// Compares the plan with the best alternatives. Requires: the report has a search, and the plan
/// fits.
std::string describe_rival(const planner::PlanReport& report) {
  const search::Answer& found = report.search->answer;
  const planner::Rivals rivals = compare_with_search(report);
  const std::string so_far = found.complete ? "" : " so far";
  if (rivals.fastest == nullptr) return fmt::format("no layout that fits was found{}", so_far);
  if (rivals.chosen)
    return fmt::format("no layout that was found{} is faster{}", so_far,
                       found.fastest ? " by more than the margin of error" : "");
  if (rivals.slowdown <= 0) return fmt::format("no layout that was found{} is faster", so_far);
  const std::string best = format_comparison(*rivals.best, report);
  const std::string fastest = format_comparison(*rivals.fastest, report);
  return fmt::format("the best layout found{} takes {}{}{}", so_far, best,
                     best == fastest ? "" : fmt::format(", the fastest {}", fastest),
                     rivals.slowdown <= found.band ? ", within the margin of error" : "");
}

std::size_t count_slices(const importer::RunTrace& run) {
  std::size_t slices = 0;
  for (const std::vector<importer::TraceSlice>& of_rank : run.ranks) slices += of_rank.size();
  return slices;
}

Standing rate_plan(const planner::PlanReport& report) {
  const cost::Estimate& e = report.explain_view.estimate;
  if (has_errors(report.findings)) return Standing::refused;
  if (report.config.reference_model || !e.sure()) return Standing::unsure;
  if (!e.fits()) return Standing::refused;
  if (!report.search || !report.search->answer.best) return Standing::fits;
  const planner::Rivals rivals = compare_with_search(report);
  if (rivals.chosen || rivals.slowdown <= 0) return Standing::good;
  return rivals.slowdown <= report.search->answer.band ? Standing::tie : Standing::slower;
}

}  // namespace

std::string_view name(Standing standing) {
  constexpr std::string_view kNames[] = {"good", "tie", "fits", "slower", "unsure", "refused"};
  return kNames[std::size_t(standing)];
}

PlanVerdict make_plan_verdict(const planner::PlanReport& report) {
  const cost::Estimate& e = report.explain_view.estimate;
  if (!e.fits() && !report.config.reference_model)
    return {rate_plan(report), describe_overflow(report) + "."};
  const std::string step = format_step(report), fit = rules::state_memory_verdict(e);
  if (report.config.reference_model)
    return {
        rate_plan(report),
        fmt::format("No model is named: with the layers of {}, a step takes {} and the plan {}.",
                    report.config.model.name, step, fit)};
  if (!report.search)
    return {rate_plan(report), fmt::format("A step takes {}, and the plan {}.", step, fit)};
  return {rate_plan(report),
          fmt::format("A step takes {}; {}; the plan {}.", step, describe_rival(report),
                      e.sure() ? "fits with margin" : fit)};
}

/// Adds the time, the GPU-hours and the cost of the whole run.
void add_training_figures(const planner::Training& run, const planner::TrainingRequest& ask,
                          std::vector<KeyFigure>& all) {
  all.push_back({"training", show(run.time),
                 fmt::format("±{} for {} tokens, without failures", show(run.within * run.time),
                             format_short_count(*ask.tokens))});
  all.push_back({"GPU-hours", format_short_count(run.gpu_hours),
                 fmt::format("{} steps", format_short_count(run.steps))});
  if (run.cost)
    all.push_back(
        {"cost", format_money(*run.cost, *ask.price),
         fmt::format("±{} at {} per GPU-hour", format_money(run.within * *run.cost, *ask.price),
                     format_money(ask.price->amount, *ask.price))});
}

std::vector<KeyFigure> list_key_figures(const planner::PlanReport& report) {
  const plan::TrainingConfig& config = report.config;
  const cost::Estimate& e = report.explain_view.estimate;
  const Seconds step = e.time();
  const KeyFigure memory{
      "memory", show_memory(e.memory.total(), e.capacity),
      fmt::format("on PP rank {}{}, {}", e.memory.pp_rank, name_assumed_model(config),
                  rules::describe_memory_verdict(e))};
  const double rate = cost::tokens_per_second(config, step);
  // The speed of a plan that does not fit is hypothetical, so its memory comes first.
  const bool runs = e.fits();
  std::vector<KeyFigure> all = {
      {runs ? "step" : "step, if it fit", show(step),
       e.step_band.rows > 0
           ? fmt::format("±{} for nine of ten published runs", percent(e.step_band.within))
           : fmt::format("±{}, assumed: nothing was measured on such a device",
                         percent(e.step_band.within))},
      {"MFU", format_mfu(config, step), "Megatron-LM convention: causal attention counts half"},
      {"MFU, PaLM convention", format_mfu(config, step, model::FlopsConvention::palm_full),
       "no causal discount"},
      {"tokens/s/GPU", format_short_count(rate),
       fmt::format("{} tokens/s in all", format_short_count(rate * double(config.world)))}};
  all.insert(runs ? all.end() : all.begin(), memory);
  if (report.run) add_training_figures(*report.run, report.training, all);
  return all;
}

std::vector<std::string> list_all_tags(const plan::TrainingConfig& config) {
  std::vector<std::string> tags = list_degree_tags(config);
  const std::vector<std::string> more = list_details(config);
  tags.insert(tags.end(), more.begin(), more.end());
  return tags;
}

std::vector<std::string> explain_choice(const planner::PlanReport& report) {
  if (!report.search) return {};
  const planner::PlanAnswer& search = *report.search;
  std::vector<std::string> words;
  if (search.answer.best) {
    const std::string best = brief(search.best().config);
    words.push_back(compare_with_search(report).chosen
                        ? describe_choices(search, "This plan")
                        : fmt::format("The search would run {} ({} per step). {}", best,
                                      show(search.best().time()), describe_choices(search, best)));
    if (std::string tie = describe_tie(search.answer); !tie.empty())
      words.push_back(std::move(tie));
  }
  return words;
}

std::vector<std::string> describe_certificate(const planner::PlanReport& report) {
  if (!report.search) return {};
  return {describe_search(report.search->answer), describe_space(*report.search)};
}

std::string explain_missing_search(const planner::PlanReport& report) {
  if (report.search) return {};
  if (report.config.reference_model)
    return fmt::format(
        "No model is named, so other layouts cannot be compared: rankwright report {} --model "
        "llama-3.1-70b",
        quote_shell_path(report.name));
  return fmt::format("No search was run (--no-search). To search: rankwright report {}",
                     quote_shell_path(report.name));
}

std::string describe_drawn_step(const planner::PlanReport& report) {
  if (!report.step)
    return "The step has too many cells to simulate; its bubble is estimated in closed form.";
  const double more = 1 / report.step->simulated.scale - 1;
  if (std::abs(more) < 5e-4) return "The simulated step, as long as the estimate.";
  return fmt::format(
      "The simulated step, scaled to be as long as the estimate. Unscaled, the cells, transfers "
      "and "
      "collectives end {} {}, because formulas add jitter and the reduction of gradients.",
      percent(std::abs(more)), more < 0 ? "earlier" : "later");
}

bool can_be_drawn(const importer::RunTrace& run) {
  return count_slices(run) <= std::size_t(kMaxDrawnCells);
}

std::string describe_measurement(const planner::PlanReport& report) {
  const importer::RunTrace& run = *report.measured;
  Seconds busy{};
  for (const std::vector<importer::TraceSlice>& of_rank : run.ranks)
    for (const importer::TraceSlice& slice : of_rank)
      if (!slice.beside) busy += slice.end - slice.begin;
  const double ranks = double(run.ranks.size());
  const double idle = run.end > Seconds{} ? std::max(0.0, 1 - busy / (ranks * run.end)) : 0;
  std::string text =
      fmt::format("Measured {}, {} of the ranks' time idle", show(run.end), percent(idle));
  if (report.step) {
    const planner::TimelineSummary& simulated = report.step->summary;
    text += fmt::format("; predicted {}, {} idle: the run took {:.2f} of that", show(simulated.end),
                        percent(simulated.idle), run.end / simulated.end);
  }
  if (can_be_drawn(run)) return text + ".";
  return text + fmt::format(". Its {} slices are too many to be drawn: at most {} are.",
                            count(i64(count_slices(run))), count(kMaxDrawnCells));
}

std::string describe_contents(const plan::RankContents& on_rank) {
  const std::string more = planner::describe_edges(on_rank);
  return plural(on_rank.layers, "layer", "layers") + (more.empty() ? "" : ", " + more);
}

std::string format_command_line(std::string_view verb, std::span<const std::string> words) {
  std::string line = fmt::format("rankwright {}", verb);
  for (const std::string& word : words) line += " " + shell_word(word);
  return line;
}

std::vector<NextCommand> list_next_commands(const planner::PlanReport& report) {
  const std::string file = quote_shell_path(report.name);
  std::vector<NextCommand> all = {
      {"explain every number", "rankwright explain " + file, ""},
      {"check the plan", "rankwright check " + file, ""},
      {"show one rank", "rankwright explain " + file + " --rank 0", ""},
      {"write a trace for Perfetto",
       "rankwright explain " + file + " --timeline --trace step.pftrace", ""},
      {"search other layouts of the job", "rankwright plan " + file, ""},
      {"write this page again", "rankwright report " + file + " -o plan.html", ""}};
  for (const planner::TargetVerdict& verdict : report.targets) {
    std::string broken;
    for (const rules::Rule* rule : verdict.broken)
      broken +=
          fmt::format("{}{}: {}", broken.empty() ? "" : "; ", rule->page.code, rule->page.title);
    all.push_back({fmt::format("export to {}", verdict.target->name),
                   fmt::format("rankwright export {} --to {}", file, verdict.target->name),
                   std::move(broken)});
  }
  all.push_back({"export a job script", "rankwright export " + file + " --to slurm", ""});
  return all;
}

}  // namespace rankwright::report
