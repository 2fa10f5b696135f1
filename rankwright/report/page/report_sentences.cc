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
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

/// Says whether it fits, as the first half of a sentence.
std::string describe_fit(const planner::PlanReport& report) {
  const cost::Estimate& e = report.explain_view.estimate;
  if (report.config.reference_model)
    return fmt::format("No model is named; {} {}", report.config.model.name,
                       rules::state_memory_verdict(e));
  return "It " + rules::state_memory_verdict(e);
}

/// Returns the fastest plan that the search found; null if nothing fits.
const search::EvaluatedPlan* find_fastest(const search::Answer& found) {
  if (found.fastest) return &*found.fastest;
  return found.best ? &*found.best : nullptr;
}

/// Returns by which fraction the plan is slower than the fastest. Requires: the search found a
/// plan.
double compute_slowdown(const planner::PlanReport& report) {
  return report.time() / find_fastest(report.search->answer)->time() - 1;
}

bool is_chosen(const planner::PlanReport& report) {
  const search::Answer& found = report.search->answer;
  return found.best && found.best->config.plan == report.config.plan;
}

bool is_fastest(const planner::PlanReport& report) {
  return find_fastest(report.search->answer) != nullptr && compute_slowdown(report) <= 0;
}

/// Returns whether the plan fits and is the chosen or the fastest one.
bool is_best(const planner::PlanReport& report) {
  return report.explain_view.estimate.fits() && (is_chosen(report) || is_fastest(report));
}

/// Formats a time and its difference to the report's plan: "28.7 s (-55.9 %)".
std::string format_comparison(const search::EvaluatedPlan& other,
                              const planner::PlanReport& report) {
  return fmt::format("{} ({})", show(other.time()), format_difference(other.time(), report.time()));
}

/// Compares the plan with the best alternatives. Requires: the report has a search.
std::string describe_rival(const planner::PlanReport& report) {
  const search::Answer& found = report.search->answer;
  const std::string so_far = found.complete ? "" : " so far";
  const search::EvaluatedPlan* const fastest = find_fastest(found);
  if (fastest == nullptr) return fmt::format("no layout that fits was found{}", so_far);
  if (!report.explain_view.estimate.fits())
    return fmt::format("the fastest that fits{} takes {}: {}", so_far,
                       format_comparison(*fastest, report), brief(fastest->config));
  if (is_chosen(report))
    return fmt::format("no layout that was found{} is faster{}", so_far,
                       found.fastest ? " by more than the model's error" : "");
  const std::string chosen =
      fmt::format("the search{} would run {} in {}", so_far, brief(found.best->config),
                  format_comparison(*found.best, report));
  if (is_fastest(report))
    return fmt::format("no layout that was found{} is faster, but {}", so_far, chosen);
  const bool apart = format_comparison(*fastest, report) != format_comparison(*found.best, report);
  const std::string faster =
      apart ? fmt::format(", and the fastest of all is {} in {}", brief(fastest->config),
                          format_comparison(*fastest, report))
            : "";
  return chosen + faster +
         (compute_slowdown(report) <= found.band ? ": within the model's error" : "");
}

/// Says how fast it is, also compared with alternatives, as the second half of a sentence.
std::string describe_speed(const planner::PlanReport& report) {
  const cost::Estimate& e = report.explain_view.estimate;
  const bool runs = e.verdict() != cost::MemoryVerdict::does_not_fit;
  const std::string own = fmt::format("a step {} {} {}", runs ? "takes" : "would take",
                                      show(report.time()), format_band(e.step_band));
  return report.search ? fmt::format("{}; {}", own, describe_rival(report)) : own;
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
  if (is_best(report)) return Standing::good;
  return compute_slowdown(report) <= report.search->answer.band ? Standing::tie : Standing::slower;
}

}  // namespace

std::string_view name(Standing standing) {
  constexpr std::string_view kNames[] = {"good", "tie", "fits", "slower", "unsure", "refused"};
  return kNames[std::size_t(standing)];
}

PlanVerdict make_plan_verdict(const planner::PlanReport& report) {
  return {rate_plan(report), fmt::format("{}; {}.", describe_fit(report), describe_speed(report))};
}

std::vector<KeyFigure> list_key_figures(const planner::PlanReport& report) {
  const plan::TrainingConfig& config = report.config;
  const cost::Estimate& e = report.explain_view.estimate;
  const Seconds step = e.time();
  std::vector<KeyFigure> all = {
      {"step", show(step),
       e.step_band.rows > 0
           ? fmt::format("±{} for nine of ten published runs", percent(e.step_band.within))
           : fmt::format("±{}, assumed: nothing was measured on such a device",
                         percent(e.step_band.within))},
      {"MFU", format_mfu(config, step), "Megatron-LM convention: causal attention counts half"},
      {"MFU, PaLM convention", format_mfu(config, step, model::FlopsConvention::palm_full),
       "no causal discount"},
      {"tokens/s/GPU", format_short_count(cost::tokens_per_second(config, step)),
       fmt::format("{} tokens/s in all", format_short_count(cost::tokens_per_second(config, step) *
                                                            double(config.world)))}};
  all.push_back({"memory", show_memory(e.memory.total(), e.capacity),
                 fmt::format("on pp rank {}{}, {}", e.memory.pp_rank, name_assumed_model(config),
                             rules::describe_memory_verdict(e))});
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
    words.push_back(is_chosen(report)
                        ? describe_choices(search, "This plan")
                        : fmt::format("The search would run {} ({} a step). {}", best,
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
        "No model is named, so other layouts cannot be weighed: rankwright report {} --model "
        "llama-3.1-70b",
        quote_shell_path(report.name));
  return fmt::format("Nothing was searched. rankwright report {} does.",
                     quote_shell_path(report.name));
}

std::string describe_drawn_step(const planner::PlanReport& report) {
  if (!report.step)
    return "The step has too many cells to be simulated; its bubble is that of the closed form.";
  const double more = 1 / report.step->simulated.scale - 1;
  if (std::abs(more) < 5e-4) return "Simulated cell by cell, it takes as long as the step above.";
  return fmt::format(
      "Simulated cell by cell, it takes as long as the step above. Its times are scaled for that: "
      "alone the cells, transfers and collectives would end {} {}, because the reduction of "
      "gradients and the jitter of many nodes are estimated by formulas.",
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
      {"what each number means", "rankwright explain " + file, ""},
      {"what is wrong with it", "rankwright check " + file, ""},
      {"everything about one rank", "rankwright explain " + file + " --rank 0", ""},
      {"the step for a trace viewer",
       "rankwright explain " + file + " --timeline --trace step.pftrace", ""},
      {"other layouts of the same job", "rankwright plan " + file, ""},
      {"this page again", "rankwright report " + file + " -o plan.html", ""}};
  for (const planner::TargetVerdict& verdict : report.targets) {
    std::string broken;
    for (const rules::Rule* rule : verdict.broken)
      broken +=
          fmt::format("{}{}: {}", broken.empty() ? "" : "; ", rule->page.code, rule->page.title);
    all.push_back({fmt::format("the files of {}", verdict.target->name),
                   fmt::format("rankwright export {} --to {}", file, verdict.target->name),
                   std::move(broken)});
  }
  all.push_back({"a job script", "rankwright export " + file + " --to slurm", ""});
  return all;
}

}  // namespace rankwright::report
