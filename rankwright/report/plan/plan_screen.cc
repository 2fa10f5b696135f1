#include "rankwright/report/plan/plan_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/cost/memory/offload_time.h"
#include "rankwright/plan/encoder.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/plan/plan_text.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/section.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

using cost::Item;

/// Items of a step that one bar shows together.
struct BarGroup {
  std::string_view name;
  std::vector<Item> items;
  enum class Remark : unsigned char { parts, overlap } remark{};
  bool works = false;  // computation; false: waiting

  bool communicates() const { return remark == Remark::overlap; }  // it then has one item
};

/// Returns the items that `explain` counts as computation.
std::vector<Item> list_computing_items() {
  std::vector<Item> found;
  for (const cost::ItemRow& of : cost::items())
    if (of.computes) found.push_back(of.item);
  return found;
}

const std::vector<BarGroup>& bar_groups() {
  using Remark = BarGroup::Remark;
  static const std::vector<BarGroup> kGroups{
      {"compute", list_computing_items(), Remark::parts, true},
      {"TP", {Item::tp}, Remark::overlap},
      {"CP", {Item::cp}, Remark::overlap},
      {"EP", {Item::ep}, Remark::overlap},
      {"pipeline", {Item::bubble, Item::imbalance, Item::sends}, Remark::parts},
      {"DP", {Item::dp}, Remark::overlap},
      {"offload", {Item::offload}, Remark::parts},
      {"jitter", {Item::jitter}, Remark::parts},
  };
  return kGroups;
}

/// Describes the parts of a group that take at least a twentieth of it, the longest first, at most
/// two: "bubble 1.2 s, imbalance 0.9 s". A single part is the group itself.
std::string describe_parts(const BarGroup& group, const cost::StepTime& step, Seconds total) {
  constexpr double kMinPart = 0.05;
  constexpr std::size_t kMaxParts = 2;
  std::vector<Item> parts;
  for (const Item item : group.items)
    if (step[item] >= kMinPart * total && step[item] > Seconds{}) parts.push_back(item);
  if (group.items.size() == 1) return {};
  std::stable_sort(parts.begin(), parts.end(), [&](Item a, Item b) { return step[a] > step[b]; });
  if (parts.size() > kMaxParts) parts.resize(kMaxParts);
  std::string text;
  for (const Item item : parts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row(item).name, show(step[item]));
  return text;
}

/// Returns the communication of a group that runs beside computation.
Seconds find_overlapped(const BarGroup& group, const cost::StepTime& step) {
  return group.communicates() ? step.overlapped[std::size_t(group.items.front())] : Seconds{};
}

std::string describe_bar(const BarGroup& group, const cost::StepTime& step, Seconds total) {
  if (group.remark == BarGroup::Remark::parts) return describe_parts(group, step, total);
  const Seconds overlapped = find_overlapped(group, step);
  return overlapped > Seconds{} ? fmt::format("{} more is overlapped", show(overlapped)) : "";
}

/// Returns the level that the collectives of a bar cross; empty if there are none.
std::string find_link(const BarGroup& group, const planner::Waterfall& fall) {
  for (const planner::Waterfall::Bar& bar : fall.bars)
    if (group.communicates() && bar.item == group.items.front()) return bar.level;
  return {};
}

/// Draws the step as one bar per group. Groups that take less than half a percent, with what is
/// overlapped, are one bar.
std::string draw_step(const planner::PlanAnswer& view, const Paint& paint, std::size_t width) {
  constexpr double kMinShare = 0.005;
  const cost::StepTime& step = view.best().estimate.step;
  const Seconds total = step.total();
  const auto time_of = [&](const BarGroup& group) {
    Seconds time{};
    for (const Item item : group.items) time += step[item];
    return time;
  };
  Seconds longest{}, rest{};
  for (const BarGroup& group : bar_groups()) longest = std::max(longest, time_of(group));
  std::vector<BarLine> lines;
  for (const BarGroup& group : bar_groups()) {
    const Seconds time = time_of(group);
    if (time + find_overlapped(group, step) < kMinShare * total) {
      rest += time;
      continue;
    }
    const std::string link = find_link(group, view.explain_view.waterfall);
    lines.push_back(
        {.name = link.empty() ? std::string(group.name) : fmt::format("{} on {}", group.name, link),
         .fraction = time / longest,
         .figures = {show(time), format_share(time / total)},
         .remark = describe_bar(group, step, time),
         .tone = group.works ? BarLine::Tone::work : BarLine::Tone::wait});
  }
  if (rest > Seconds{})
    lines.push_back({.name = "other",
                     .fraction = rest / longest,
                     .figures = {show(rest), format_share(rest / total)},
                     .tone = BarLine::Tone::wait});
  return draw_bar_lines(lines, paint, width);
}

/// A plan beside the best one.
struct Alternative {
  plan::TrainingConfig config;
  Seconds time{};
  cost::StepTime step{};
  Bytes memory{};
};

/// Returns the plans that a reader would ask about next: the fastest of all, the one that fits with
/// margin, the ties, and then the neighbors, each choice of degrees once.
std::vector<Alternative> list_alternatives(const planner::PlanAnswer& view, std::size_t max) {
  std::vector<Alternative> all;
  std::vector<plan::Plan> shown{view.best().config.plan};
  const auto add = [&](Alternative one) {
    const plan::Plan& p = one.config.plan;
    const bool known = std::any_of(shown.begin(), shown.end(), [&](const plan::Plan& other) {
      return std::tie(p.tp, p.cp, p.pp, p.dp, p.ep) ==
             std::tie(other.tp, other.cp, other.pp, other.dp, other.ep);
    });
    if (known || all.size() >= max) return;
    shown.push_back(p);
    all.push_back(std::move(one));
  };
  const auto add_plan = [&](const search::EvaluatedPlan& one) {
    add({one.config, one.time(), one.estimate.step, one.estimate.memory.total()});
  };
  if (view.answer.fastest) add_plan(*view.answer.fastest);
  if (view.answer.safe) add_plan(*view.answer.safe);
  for (const search::EvaluatedPlan& one : view.answer.rivals) add_plan(one);
  std::vector<const search::Neighbor*> neighbors;
  for (const search::Neighbor& one : view.neighbors)
    if (one.verdict == search::Neighbor::Verdict::evaluated) neighbors.push_back(&one);
  std::stable_sort(neighbors.begin(), neighbors.end(),
                   [](const auto* a, const auto* b) { return a->time < b->time; });
  for (const search::Neighbor* const one : neighbors)
    add({one->config, one->time, one->step, one->memory.total()});
  return all;
}

cost::MemoryVerdict judge(Bytes memory, const cost::Estimate& best) {
  return cost::judge_memory(memory, best.capacity, best.memory_band.within);
}

/// Describes how an alternative differs: its memory if that is the less certain one, else the item
/// of the step that changes most.
std::string describe_trade_off(const Alternative& other, const search::EvaluatedPlan& best) {
  const cost::MemoryVerdict verdict = judge(other.memory, best.estimate),
                            ours = best.estimate.verdict();
  if (verdict > ours)
    return verdict == cost::MemoryVerdict::tight
               ? fmt::format("only {} free", show_memory(best.estimate.capacity - other.memory))
               : std::string(name(verdict));
  if (verdict < ours) return std::string(name(verdict));
  return describe_largest_change(best.estimate.step, other.step);
}

std::string draw_alternatives(const planner::PlanAnswer& view, const Paint& paint,
                              std::size_t width) {
  constexpr std::size_t kMax = 3;
  Table table{{{"step", kRight}, {"memory", kRight}, {"alternative"}}};
  for (const Alternative& one : list_alternatives(view, kMax)) {
    const std::string trade = describe_trade_off(one, view.best());
    table.rows.push_back({format_difference(one.time, view.best().time()), show_memory(one.memory),
                          format_degrees(one.config) + (trade.empty() ? "" : ": " + trade)});
  }
  return table.rows.empty() ? "" : "\n" + format_remarked_table(table, paint, "  ", width);
}

std::string paint_verdict(cost::MemoryVerdict verdict, const std::string& text,
                          const Paint& paint) {
  if (verdict == cost::MemoryVerdict::fits_with_margin) return paint.green(text);
  return paint.severity(
      verdict == cost::MemoryVerdict::does_not_fit ? Severity::error : Severity::warning, text);
}

/// Returns "LoRA of rank 16 on q_proj, v_proj, frozen weights in nf4".
std::string describe_adapters(const plan::Job& job) {
  const bool all = job.lora_modules == plan::LoraModules{};
  return fmt::format(
      "LoRA of rank {} on {}, frozen weights in {}", job.lora_rank,
      all ? "all linear layers" : show(job.lora_modules, ", "),
      job.base_dtype == plan::BaseDtype::same ? name(job.param_dtype) : name(job.base_dtype));
}

/// Returns what is trained and how: "dpo with a reference model; LoRA of rank 16 ..."; empty for
/// next-token prediction of all parameters.
std::string describe_training_job(const plan::TrainingConfig& config) {
  const plan::Job& job = config.job;
  std::string text;
  if (job.method != plan::Method::lm) text = name(job.method);
  if (job.ref_model)
    text += fmt::format("{}with a reference model{}", text.empty() ? "" : " ",
                        job.frozen() ? " (adapters off)" : "");
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (config.model.frozen.any()) add(fmt::format("frozen: {}", show(config.model.frozen)));
  if (job.frozen()) add(describe_adapters(job));
  return text;
}

/// Returns the size and the work of an encoder in front of the model; empty without one.
std::string describe_encoder(const plan::TrainingConfig& config) {
  const model::Model& model = config.model;
  if (model.encoder_parameters == 0)
    return model.encoder_layers > 0 ? "unknown: only the text part is estimated" : "";
  const std::string size =
      fmt::format("{} parameters", format_short_count(double(model.encoder_parameters)));
  if (!runs_encoder(config))
    return size + (model.encoder.hidden > 0 && config.job.images == 0
                       ? fmt::format("; no {} are stated, so that it does not run",
                                     model.encoder.audio ? "clips" : "images")
                       : "; its activations and its time are not estimated");
  return fmt::format("{}; {} of {} tokens per sequence, {}", size, show_encoder_inputs(config),
                     count(plan::find_image_tokens(config)),
                     trains_encoder(config) ? "trained" : "forward only");
}

/// Returns what offload needs: "12 GiB per GPU, 96 GiB per node: optimizer", or with drives
/// "1.5 GiB per GPU, 12 GiB per node, and 1 TiB of NVMe per node: optimizer on NVMe".
std::string describe_host_memory(const plan::TrainingConfig& config,
                                 const cost::MemoryEstimate& memory) {
  const std::string drives =
      memory.nvme > Bytes{}
          ? fmt::format(", and {} of NVMe per node", show_memory(count_nvme_space(config, memory)))
          : "";
  return fmt::format("{} per GPU, {} per node{}: {}", show_memory(memory.host),
                     show_memory(count_host_memory(config, memory)), drives,
                     show(config.plan.offload));
}

/// Writes what is fixed about a plan: layout, schedule, step and memory.
std::string write_plan(const planner::PlanAnswer& view, const Paint& paint, std::size_t width) {
  const search::EvaluatedPlan& best = view.best();
  const cost::Estimate& e = best.estimate;
  std::string out;
  const auto say = [&](std::string_view label, const std::string& text) {
    out += render_labeled_text(label, text, paint, width);
  };
  if (const std::string job = describe_training_job(best.config); !job.empty()) say("trains", job);
  if (const std::string encoder = describe_encoder(best.config); !encoder.empty())
    say("encoder", encoder);
  say("layout", format_placed_degrees(best.config));
  say("schedule", describe_schedule(best.config));
  say("step",
      fmt::format("{} {} · {} tokens/s/GPU · MFU {}", show(e.time()), format_band(e.step_band),
                  format_short_count(cost::tokens_per_second(best.config, e.time())),
                  format_mfu(best.config, e.time())));
  const std::string where =
      fmt::format("{} on PP rank {}{}: ", show_memory(e.memory.total(), e.capacity),
                  e.memory.pp_rank, name_assumed_model(best.config));
  // The verdict is one word group, so that color never spans a line break.
  std::string memory =
      render_labeled_text("memory", where + std::string(name(e.verdict())), paint, width);
  const std::string verdict(name(e.verdict()));
  if (const std::size_t at = memory.rfind(verdict); at != std::string::npos)
    memory.replace(at, verdict.size(), paint_verdict(e.verdict(), verdict, paint));
  out += memory;
  if (e.memory.host > Bytes{}) say("host", describe_host_memory(best.config, e.memory));
  return out;
}

/// Says how sure the choice is and what was searched, in one sentence each.
std::string describe_certainty(const planner::PlanAnswer& view) {
  const search::Answer& a = view.answer;
  std::string text;
  if (const std::string reason = describe_preference(view); !reason.empty()) text += reason + " ";
  if (a.tied > 1)
    text += fmt::format("{} layouts are within {}, too close to call: benchmark two or three. ",
                        count(a.tied), percent(a.band));
  const rules::Target target = view.problem.limits.target;
  const std::string runnable =
      target == rules::Target::any ? "" : fmt::format(" for {}", rules::row(target).title);
  text += a.complete ? fmt::format("Searched all {} layouts{}.",
                                   format_short_count(double(a.stats.candidates)), runnable)
                     : fmt::format("The search stopped early: {}. {}", describe_stop(a),
                                   describe_budget(view.stopped, view.budget));
  return text;
}

/// Suggests the next commands.
std::string describe_next(const planner::PlanAnswer& view, const std::string& saved) {
  const rules::TargetRow* const target = find_named_target(view);
  if (saved.empty())
    return fmt::format("add -o plan.yaml, then: rankwright {}",
                       target == nullptr ? "explain plan.yaml"
                                         : fmt::format("export plan.yaml --to {}", target->name));
  const std::string file = quote_shell_path(saved);
  return fmt::format(
      "rankwright explain {0} · rankwright report {0}{1}", file,
      target == nullptr ? "" : fmt::format(" · rankwright export {} --to {}", file, target->name));
}

}  // namespace

std::string render_plan_screen(const planner::PlanAnswer& view, const Paint& paint,
                               std::size_t width, const std::string& saved) {
  std::string out =
      make_bold(break_lines(format_short_headline(view.best().config, view.problem.limits.target),
                            ", ", ",", width, ""),
                paint);
  out += "\n" + write_plan(view, paint, width) + "\n";
  out += draw_step(view, paint, width);
  out += draw_alternatives(view, paint, width) + "\n";
  const auto say = [&](std::string_view label, const std::string& text) {
    out += render_labeled_text(label, text, paint, width);
  };
  for (const auto& [label, text] : list_requested_answers(view)) say(label, text);
  say("search", describe_certainty(view));
  const std::string assumed = describe_changeable_assumptions(view.problem.config);
  say("assumed", assumed);
  say(assumed.empty() ? "assumed" : "", describe_assumed_drives(view.best().config));
  say("next", describe_next(view, saved));
  return out;
}

std::string render_plan_line(const planner::PlanAnswer& view) {
  const search::EvaluatedPlan& best = view.best();
  return fmt::format("{}: {} {}, {}, {}\n", brief(best.config), show(best.time()),
                     format_band(best.estimate.step_band),
                     show_memory(best.estimate.memory.total(), best.estimate.capacity),
                     name(best.estimate.verdict()));
}

std::string render_top_plans(const planner::PlanAnswer& view, const Paint& paint,
                             std::size_t width) {
  Table table{
      {{"", kRight}, {"step", kRight}, {"difference", kRight}, {"memory", kRight}, {"plan"}}};
  const search::EvaluatedPlan& best = view.best();
  const auto add = [&](const search::EvaluatedPlan& one) {
    table.rows.push_back({count(i64(table.rows.size()) + 1), show(one.time()),
                          format_difference(one.time(), best.time()),
                          show_memory(one.estimate.memory.total()), brief_with_verdict(one)});
  };
  add(best);
  for (const search::EvaluatedPlan& one : view.top) add(one);
  return format_remarked_table(table, paint, "", width);
}

}  // namespace rankwright::report
