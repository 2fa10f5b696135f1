#include "rankwright/report/plan/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/plan_screen.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/section.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

constexpr std::string_view kLineDot = " · ";

std::string describe_more_figures(const search::EvaluatedPlan& best) {
  return fmt::format("MFU, PaLM convention (no causal discount) {} · {}",
                     format_mfu(best.config, best.time(), model::FlopsConvention::palm_full),
                     describe_memory(best));
}

std::string describe_safe(const planner::PlanAnswer& view) {
  const search::Answer& a = view.answer;
  if (a.best->estimate.verdict() == cost::MemoryVerdict::fits_with_margin) return {};
  if (!a.safe) return "No plan fits with margin.";
  return fmt::format("Fits with margin: {} ({}), {}: {}.", show(a.safe->time()),
                     format_difference(a.safe->time(), a.best->time()),
                     show_memory(a.safe->estimate.memory.total(), a.safe->estimate.capacity),
                     brief(a.safe->config));
}

/// Lists the alternatives. `joined`: the plan precedes its reason in one column, to keep lines
/// short on a terminal.
Table make_why_table(const planner::PlanAnswer& view, bool joined) {
  Table table{{{"change"}, {"step", kRight}, {"difference", kRight}}};
  if (!joined) table.columns.push_back({"best such plan"});
  table.columns.push_back({"because"});
  for (const WhyRow& row : make_why_rows(view)) {
    table.rows.push_back({row.change, row.step, row.difference});
    std::vector<std::string>& cells = table.rows.back();
    if (!joined) cells.push_back(row.plan);
    cells.push_back(joined && !row.plan.empty() ? row.plan + ": " + row.because : row.because);
  }
  return table;
}

/// Introduces the table of tied plans.
std::string describe_ties(const planner::PlanAnswer& view) {
  const std::string text = describe_tie(view.answer);
  const std::size_t others = view.answer.rivals.size();
  if (text.empty() || others == 0) return text;
  return text + fmt::format(" The fastest {}:", others == 1 ? "other" : "others");
}

Table make_tie_table(const planner::PlanAnswer& view) {
  Table table{{{"step", kRight}, {"difference", kRight}, {"memory", kRight}, {"plan"}}};
  for (const search::EvaluatedPlan& rival : view.answer.rivals)
    table.rows.push_back({show(rival.time()), format_difference(rival.time(), view.best().time()),
                          show_memory(rival.estimate.memory.total()), brief(rival.config)});
  return table;
}

std::string describe_order(const planner::PlanAnswer& view) {
  const search::Answer& a = view.answer;
  const search::EvaluatedPlan* other = a.reordered();
  if (!a.usual || other == nullptr) return {};
  const bool chosen = other == &*a.best;
  return fmt::format(
      "{} in the order {}, not the default: {}. In the default order {} the fastest plan takes {} "
      "({}): {}.",
      chosen ? "Ranks are numbered" : "The fastest of all numbers its ranks",
      show(other->config.plan.order), show(other->time()), show(mesh::kDefaultOrder),
      show(a.usual->time()), format_difference(a.usual->time(), other->time()),
      brief(a.usual->config));
}

Table make_trade_table(const planner::PlanAnswer& view) {
  const search::EvaluatedPlan& best = view.best();
  Table table{{{"instead"},
               {"step", kRight},
               {"difference", kRight},
               {"GPU time", kRight},
               {"memory", kRight},
               {"plan"}}};
  for (std::size_t k = 1; k < view.trade.size(); ++k) {
    const search::TradePoint& point = view.trade[k];
    std::vector<std::string> cells{describe_trade(view.problem, point)};
    if (point.plan) {
      const Seconds time = point.plan->time();
      const double gpus = double(point.gpus) / double(view.problem.config.world);
      cells.insert(cells.end(),
                   {show(time), format_difference(time, best.time()),
                    format_difference(gpus * time, best.time()),
                    show_memory(point.plan->estimate.memory.total()), brief(point.plan->config)});
    } else {
      cells.insert(cells.end(), {"-", "does not fit", "", "", ""});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Returns the settings with which the job fits, if no layout does.
Table make_savings_table(const planner::PlanAnswer& view) {
  Table table{{{"fits with"}, {"step", kRight}, {"memory", kRight}, {"host", kRight}, {"options"}}};
  for (const planner::Saving& one : view.savings) {
    const cost::MemoryEstimate& memory = one.plan.estimate.memory;
    table.rows.push_back({std::string(one.row->name), show(one.plan.time()),
                          show_memory(memory.total()),
                          memory.host > Bytes{} ? show_memory(memory.host) : "", one.flags()});
  }
  return table;
}

std::string describe_objective(const planner::PlanAnswer& view) {
  if (!view.largest) return {};  // also if the search was stopped
  const std::string_view verdict = name(view.best().estimate.verdict());
  switch (view.objective) {
    case planner::Objective::time:
      return {};
    case planner::Objective::max_seq:
      return fmt::format("The longest sequence has {} tokens{}: memory {}.", count(*view.largest),
                         *view.largest == view.problem.config.model.max_sequence
                             ? ", the context length of the model"
                             : "",
                         verdict);
    case planner::Objective::max_batch:
      return fmt::format("The largest micro-batch has {}: memory {}.",
                         plural(*view.largest, "sequence", "sequences"), verdict);
  }
  return {};
}

std::string describe_offload(const planner::PlanAnswer& view) {
  if (view.offloaded == nullptr) return {};
  return fmt::format("Nothing fits without offload: this plan uses {}.", view.offloaded->name);
}

/// Says what to do with a plan of the user's that is faster than what was found: the search does
/// not cover every split of the layers, nor every other setting of a plan file.
std::string advise_on_faster_plan(const planner::OwnPlan& own, const search::EvaluatedPlan& best) {
  const search::EvaluatedPlan& plan = *own.evaluated;
  const bool faster = own.config.world == best.config.world && plan.time() < best.time();
  if (!faster || plan.estimate.verdict() > best.estimate.verdict()) return {};
  return own.config.plan.stages.empty() ? " Keep it: a setting of it is not searched."
                                        : " Keep it: its split of the layers is not searched.";
}

std::string describe_own_plan(const planner::PlanAnswer& view) {
  if (!view.own) return {};
  const planner::OwnPlan& own = *view.own;
  if (!own.evaluated)
    return fmt::format("{} breaks a rule: rankwright check {}", make_excerpt(own.name, 200),
                       quote_shell_path(own.name));
  const cost::Estimate& e = own.evaluated->estimate;
  return fmt::format("Your plan{}: {} ({}){}: {}.",
                     own.config.world == view.best().config.world
                         ? ""
                         : fmt::format(", on {} GPUs instead of {}", count(own.config.world),
                                       count(view.best().config.world)),
                     show(own.evaluated->time()),
                     format_difference(own.evaluated->time(), view.best().time()),
                     e.verdict() == cost::MemoryVerdict::fits_with_margin
                         ? ""
                         : fmt::format(", {}", rules::describe_memory_verdict(e)),
                     brief(own.config)) +
         advise_on_faster_plan(own, view.best());
}

std::string describe_training(const planner::PlanAnswer& view) {
  return view.run ? describe_training_run(*view.run, view.training) + "." : "";
}

/// Lists which frameworks run the plan: "megatron yes · torchtitan no: RW0512 it splits the layers
/// itself".
std::string describe_targets(const planner::PlanAnswer& view) {
  std::string text;
  for (const planner::TargetVerdict& verdict : view.targets) {
    text += fmt::format("{}{} ", text.empty() ? "" : " · ", verdict.target->name);
    if (verdict.broken.empty()) {
      text += "yes";
      continue;
    }
    const rules::Page& first = verdict.broken.front()->page;
    text += fmt::format("{}: {} {}", first.severity == Severity::error ? "no" : "with a warning",
                        first.code, first.title);
    if (verdict.broken.size() > 1) text += fmt::format(" (+{})", verdict.broken.size() - 1);
  }
  return text;
}

/// Suggests the next commands. `saved` is the file that the plan was written to; empty if none.
std::string describe_next_steps(const planner::PlanAnswer& view, const std::string& saved) {
  std::string text = "-o plan.yaml writes this plan";
  const rules::TargetRow* const target = find_named_target(view);
  if (!saved.empty()) {
    const std::string file = quote_shell_path(saved);
    text = fmt::format("rankwright explain {0} · rankwright explain {0} --timeline", file);
    if (target != nullptr)
      text += fmt::format(" · rankwright export {} --to {}", file, target->name);
  }
  if (target == nullptr)
    text +=
        fmt::format(" · --for {} finds the fastest that it runs", rules::targets().front().name);
  return text;
}

std::string describe_fit(const planner::PlanAnswer& view) {
  if (!view.fit_asked || !view.fewest) return {};
  const std::string fewest =
      fmt::format("{} are the fewest of {}", plural(view.fewest->gpus, "GPU", "GPUs"),
                  count(view.problem.config.cluster.devices()));
  const cost::MemoryVerdict verdict = view.problem.accepts;
  if (verdict != cost::MemoryVerdict::fits_with_margin)
    return fmt::format("{}, but memory is {}; no plan on this cluster fits with margin.", fewest,
                       name(verdict));
  const std::string text = fewest + " on which a plan fits with margin";
  if (!view.fewest_tight) return text + ".";
  return fmt::format("{}; on {} memory is {} ({}).", text, count(view.fewest_tight->gpus),
                     rules::describe_memory_verdict(view.fewest_tight->plan->estimate),
                     brief(view.fewest_tight->plan->config));
}

std::string describe_excluded_hosts(const planner::PlanAnswer& view) {
  return view.hosts ? describe_hosts(*view.hosts, view.problem.config.cluster.host_devices) : "";
}

std::string indent_lines(const std::string& text, std::size_t width) {
  return break_lines(text, kLineDot, " ·", width, "  ");
}

/// Writes the headline and the assumptions.
std::string write_head(const planner::PlanAnswer& view, const plan::TrainingConfig& config,
                       const Paint& paint, std::size_t width) {
  std::string out =
      make_bold(break_lines(format_headline(config), kLineDot, " ·", width, ""), paint);
  const std::string assumed = describe_assumptions(view.problem.config);
  if (!assumed.empty()) out += wrap_text("assumed: " + assumed, width - 2, "  ");
  return out + "\n";
}

/// Describes what follows the figures of the best plan.
std::vector<Section> make_sections(const planner::PlanAnswer& view, const std::string& saved) {
  using Only = Section::Only;
  std::vector<Section> all;
  for (LabeledText& one : list_requested_answers(view))
    all.push_back({.label = std::string(one.label), .text = std::move(one.text)});
  all.push_back({.heading = "Step",
                 .table = make_waterfall_table(view.explain_view.waterfall),
                 .only = Only::markdown});
  all.push_back({.heading = "Why",
                 .label = "why",
                 .text = describe_choices(view),
                 .table = make_why_table(view, true),
                 .wide_table = make_why_table(view, false)});
  all.push_back({.heading = "Ties",
                 .label = "ties",
                 .text = describe_ties(view),
                 .table = make_tie_table(view)});
  all.push_back({.heading = "Order", .label = "order", .text = describe_order(view)});
  if (view.trade.size() > 1) {
    all.push_back({.label = "trade-off",
                   .text = "The fastest plans with less memory or fewer GPUs:",
                   .only = Only::terminal});
    all.push_back({.heading = "Trade-offs", .label = "", .table = make_trade_table(view)});
  }
  all.push_back({.heading = "Searched",
                 .label = "searched",
                 .text = describe_search(view.answer),
                 .more = describe_violations(view.answer.stats)});
  all.push_back({.label = "", .text = describe_space(view)});
  if (view.stopped != planner::StopReason::none && view.answer.complete)
    all.push_back(
        {.label = "stopped",
         .text = "The search was complete; the alternatives were not evaluated to the end.",
         .only = Only::terminal});
  all.push_back({.label = "budget", .text = describe_budget(view.stopped, view.budget)});
  all.push_back({.heading = "Runs on", .label = "runs on", .text = describe_targets(view)});
  all.push_back({.heading = "Assumed",
                 .text = describe_assumptions(view.problem.config),
                 .only = Only::markdown});
  all.push_back(
      {.label = "next", .text = describe_next_steps(view, saved), .only = Only::terminal});
  return all;
}

}  // namespace

const rules::TargetRow* find_named_target(const planner::PlanAnswer& view) {
  const rules::Target asked = view.problem.limits.target;
  if (asked != rules::Target::any) return &row(asked);
  for (const planner::TargetVerdict& verdict : view.targets)
    if (verdict.broken.empty()) return verdict.target;
  return nullptr;
}

std::vector<LabeledText> list_requested_answers(const planner::PlanAnswer& view) {
  return {{"yours", describe_own_plan(view)},       {"fit", describe_fit(view)},
          {"largest", describe_objective(view)},    {"offload", describe_offload(view)},
          {"hosts", describe_excluded_hosts(view)}, {"training", describe_training(view)}};
}

std::string render_plan_text(const planner::PlanAnswer& view, const Paint& paint, std::size_t width,
                             const std::string& saved) {
  const search::EvaluatedPlan& best = view.best();
  std::string out = write_head(view, best.config, paint, width);
  out += make_bold(indent_lines(format_degree_tags(best.config), width), paint);
  out += indent_lines(details(best.config), width);
  out += make_bold(break_lines(figures(best.config, best.estimate), "   ", "", width, "  "), paint);
  out += indent_lines(describe_more_figures(best), width);
  const std::string safe = describe_safe(view);
  if (!safe.empty()) out += wrap_text(safe, width - 2, "  ");
  out += "\n" + render_waterfall_text(view.explain_view.waterfall, paint, width) + "\n";
  return out + render_sections_text(make_sections(view, saved), paint, width);
}

std::string render_plan_markdown(const planner::PlanAnswer& view) {
  const search::EvaluatedPlan& best = view.best();
  std::string out = "# " + escape_markdown(format_headline(best.config)) + "\n\n";
  for (const std::string& words :
       {format_degree_tags(best.config), details(best.config), figures(best.config, best.estimate),
        describe_more_figures(best), describe_safe(view)})
    if (!words.empty()) out += escape_markdown(words) + "\n\n";
  out += render_sections_markdown(make_sections(view, {}));
  out.pop_back();  // the last blank line
  return out;
}

namespace {

/// Returns whether the request limits the plan, beyond the framework that runs it.
bool has_limits(search::Limits limits) {
  limits.target = rules::Target::any;
  limits.published = false;
  return limits != search::Limits{};
}

/// Suggests how to make it fit. `lean` is the estimate of the layout that needs the least memory.
std::string describe_remedy(const planner::PlanAnswer& view, const cost::MemoryEstimate& lean) {
  const plan::TrainingConfig& config = view.problem.config;
  std::string text, system = find_system_name(config.cluster);
  if (view.fewest && view.fewest->plan && !system.empty()) {
    const i64 gpus = view.fewest->gpus;
    const i64 unit = config.cluster.devices() / config.cluster.levels.back().arity;
    text +=
        fmt::format("A plan fits with margin on {} GPUs ({}, {} per step): --cluster \"{} x {}\". ",
                    count(gpus), brief(view.fewest->plan->config), show(view.fewest->plan->time()),
                    system, ceil_div(gpus, unit));
    text +=
        fmt::format("To compare GPU counts: --cluster {} --gpus {}..{}. ", system, gpus, 8 * gpus);
  } else {
    text += view.savings.empty() ? "Use a larger --cluster. "
                                 : "Add the options of one line above, or use a larger --cluster. ";
  }
  // Shorter sequences shrink activations, not states.
  if (2.0 * lean.states() < lean.total() && config.job.sequence > 1)
    text += fmt::format("Or a shorter sequence: --seq {}. ", config.job.sequence / 2);
  if (view.problem.max_memory) text += "Or drop --max-memory. ";
  if (has_limits(view.problem.limits)) text += "Or drop a limit. ";
  text.pop_back();
  return text;
}

}  // namespace

std::string render_no_plan_text(const planner::PlanAnswer& view, const Paint& paint,
                                std::size_t width) {
  const search::Answer& a = view.answer;
  std::string out = write_head(view, view.problem.config, paint, width);
  const auto say = [&](std::string_view label, const std::string& words) {
    out += render_labeled_text(label, words, paint, width);
  };
  std::string next;
  if (!a.complete) {
    say("stopped", "No plan was found yet. " + describe_budget(view.stopped, view.budget));
  } else if (view.leanest) {
    const auto& [lean, memory] = *view.leanest;
    const cost::Entry max = find_largest_item(memory);
    say("memory",
        fmt::format("Nothing fits. The leanest layout needs {} on PP rank {}, of which {} are {}: "
                    "{}.",
                    show_memory(a.leanest->memory, view.problem.capacity), memory.pp_rank,
                    show_memory(memory[max]), row(max).name, brief(lean)));
    next = describe_remedy(view, memory);
  } else {
    say("layout", "None is possible: every layout within these limits breaks a rule.");
    next = "Drop a limit, or change --global-batch or --gpus.";
  }
  if (!view.savings.empty())
    out += "\n" + format_remarked_table(make_savings_table(view), paint, "  ", width) + "\n";
  const auto drives = std::find_if(view.savings.begin(), view.savings.end(), [](const auto& one) {
    return !describe_assumed_drives(one.plan.config).empty();
  });
  if (drives != view.savings.end()) say("assumed", describe_assumed_drives(drives->plan.config));
  say("hosts", describe_excluded_hosts(view));
  say("search", a.complete ? fmt::format("Searched all {} layouts.", count(a.stats.candidates))
                           : describe_search(a));
  if (!view.leanest) say("", describe_violations(a.stats));
  say("next", next);
  return out;
}

std::string render_answer_text(const planner::PlanAnswer& view, const Paint& paint,
                               std::size_t width, const std::string& saved) {
  return view.answer.best ? render_plan_screen(view, paint, width, saved)
                          : render_no_plan_text(view, paint, width);
}

}  // namespace rankwright::report
