#include "rankwright/report/plan/plan_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cluster/nvme.h"
#include "rankwright/cost/bands/layout_distance.h"
#include "rankwright/planner/input/key_options.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/rules/change.h"
#include "rankwright/rules/memory_verdict.h"
#include "rankwright/search/preference.h"

namespace rankwright::report {
namespace {

using Kind = search::Neighbor::Kind;
using Verdict = search::Neighbor::Verdict;

std::string name_schedule(const plan::Plan& p) {
  const std::string chunks =
      p.virtual_stages > 1 ? fmt::format(" x {} virtual stages", p.virtual_stages) : "";
  return std::string(name(p.schedule)) + chunks;
}

/// Returns an axis with its new degree: "TP 4".
template <Kind kind>
std::string describe_degrees(const search::Neighbor& n) {
  constexpr std::string_view kNames[] = {"TP", "CP", "PP", "DP", "EP"};
  return fmt::format("{} {}", kNames[std::size_t(kind)], count(n.degree));
}

/// One row per kind of change; the ones that people ask about first come first.
struct KindRow {
  Kind kind;
  std::string_view key;
  std::string (*change)(const search::Neighbor&);
};
constexpr KindRow kNeighborKinds[] = {
    {Kind::data_alone, "data_alone",
     [](const search::Neighbor&) { return std::string("DP only"); }},
    {Kind::tp, "tp", describe_degrees<Kind::tp>},
    {Kind::pp, "pp", describe_degrees<Kind::pp>},
    {Kind::cp, "cp", describe_degrees<Kind::cp>},
    {Kind::ep, "ep", describe_degrees<Kind::ep>},
    {Kind::dp, "dp", describe_degrees<Kind::dp>},
    {Kind::zero, "zero",
     [](const search::Neighbor& n) {
       return n.config.plan.zero == 0 ? std::string("no ZeRO")
                                      : fmt::format("ZeRO-{}", n.config.plan.zero);
     }},
    {Kind::recompute, "recompute",
     [](const search::Neighbor& n) { return describe_recomputation(n.config.plan); }},
    {Kind::micro_batch, "micro_batch",
     [](const search::Neighbor& n) {
       return fmt::format("micro-batch {}", n.config.plan.micro_batch);
     }},
    {Kind::schedule, "schedule",
     [](const search::Neighbor& n) { return name_schedule(n.config.plan); }},
    {Kind::sequence_parallel, "sequence_parallel",
     [](const search::Neighbor& n) {
       return std::string(n.config.plan.sequence_parallel ? "with" : "no") +
              " sequence parallelism";
     }},
    {Kind::order, "order",
     [](const search::Neighbor& n) { return "order " + show(n.config.plan.order); }},
};

/// Lists the items that contribute most to the difference, largest first and at most `max`: "TP
/// collectives +3.1 s, bubble +1.2 s, matmuls -0.4 s".
std::string describe_items(const cost::StepTime& from, const cost::StepTime& to,
                           std::size_t max = 3) {
  struct Change {
    cost::Item item;
    Seconds more;
  };
  constexpr double kMin = 0.2;  // of the largest change
  std::vector<Change> changes;
  for (const cost::ItemRow& of : cost::items())
    if (from[of.item] != to[of.item]) changes.push_back({of.item, to[of.item] - from[of.item]});
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::abs(a.more.value) > std::abs(b.more.value);
  });
  std::string text;
  for (std::size_t k = 0; k < std::min(max, changes.size()); ++k) {
    if (std::abs(changes[k].more.value) < kMin * std::abs(changes.front().more.value)) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row(changes[k].item).name,
                        show_signed(changes[k].more));
  }
  return text;
}

/// Returns the verdict on a plan that takes more than a problem's plans may, in a few words.
std::string describe_memory_refusal(const search::Problem& problem,
                                    const cost::MemoryEstimate& memory) {
  const cost::MemoryVerdict verdict = cost::judge_memory(
      memory.total(), problem.capacity, cost::get_memory_band(problem.config).within);
  return std::string(verdict > problem.accepts ? name(verdict) : "over --max-memory");
}

/// Explains why a plan does not fit: "needs 194 of 79.1 GiB: gradients +120 GiB".
std::string explain_memory_refusal(const cost::MemoryEstimate& from, const cost::MemoryEstimate& to,
                                   Bytes capacity) {
  const cost::EntryRow* grown = nullptr;
  Bytes max{};
  for (const cost::EntryRow& of : cost::entries()) {
    const Bytes more = to[of.entry] - from[of.entry];
    if (more > max) grown = &of, max = more;
  }
  std::string text = fmt::format("needs {}", show_memory(to.total(), capacity));
  return grown == nullptr ? text : text + fmt::format(": {} +{}", grown->name, show_memory(max));
}

/// Explains which constraint is violated, with the numbers if they are known.
std::string explain_violation(const search::Neighbor& n) {
  return n.detail.empty() ? std::string(words(n.violation.why)) : n.detail;
}

std::string explain_rule_refusal(std::string_view code) {
  const rules::Page* const page = rules::find_page(code);
  RW_CHECK(page != nullptr);
  return fmt::format("{} ({})", page->title, code);
}

WhyRow make_why_row(const KindRow& kind, std::size_t index, const planner::PlanAnswer& view,
                    const search::EvaluatedPlan& plan) {
  const search::Neighbor& n = view.neighbors[index];
  WhyRow row{.key = kind.key,
             .change = kind.change(n),
             .step = "-",
             .difference = {},
             .plan = n.searched ? brief(n.config) : "",
             .because = {},
             .neighbour = index};
  switch (n.verdict) {
    case Verdict::evaluated:
      row.step = show(n.time);
      row.difference = format_difference(n.time, plan.time());
      row.because = describe_items(plan.estimate.step, n.step);
      break;
    case Verdict::memory:
      row.difference = describe_memory_refusal(view.problem, n.memory);
      row.because = explain_memory_refusal(plan.estimate.memory, n.memory, view.problem.capacity);
      break;
    case Verdict::violation:
      row.difference = "impossible";
      row.plan.clear();
      row.because = explain_violation(n);
      break;
    case Verdict::rule:
      row.difference = "refused";
      row.because = explain_rule_refusal(n.rule);
      break;
  }
  return row;
}

}  // namespace

std::string brief(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::string text = format_degrees(s);
  const auto add = [&](const std::string& word) { text += " · " + word; };
  if (p.shard_size > 0) add(fmt::format("sharded in groups of {}", count(p.shard_size)));
  if (p.micro_batch > 1) add(fmt::format("micro-batch {}", count(p.micro_batch)));
  if (p.pp > 1 && p.schedule != pipeline::Schedule::one_f_one_b) add(std::string(name(p.schedule)));
  if (!rules::same_order(s, mesh::kDefaultOrder)) add("order " + show(p.order));
  return text;
}

std::string brief_with_verdict(const search::EvaluatedPlan& plan) {
  const cost::MemoryVerdict verdict = plan.estimate.verdict();
  return brief(plan.config) + (verdict == cost::MemoryVerdict::fits_with_margin
                                   ? ""
                                   : fmt::format(" ({})", name(verdict)));
}

std::string find_system_name(const cluster::Cluster& cluster) {
  for (const catalog::System& system : catalog::systems())
    if (cluster.name == system.name || cluster.name.starts_with(system.name + " x "))
      return system.name;
  return {};
}

std::string describe_schedule(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::string text =
      fmt::format("{} of {}, {}", plural(s.microbatches(), "micro-batch", "micro-batches"),
                  count(p.micro_batch), describe_recomputation(p));
  return p.pp > 1 ? fmt::format("{}, {}", name(p.schedule), text) : text;
}

std::string describe_largest_change(const cost::StepTime& from, const cost::StepTime& to) {
  return describe_items(from, to, 1);
}

std::vector<std::string> list_details(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<std::string> all;
  const std::string microbatches = plural(s.microbatches(), "micro-batch", "micro-batches");
  all.push_back(p.pp > 1 ? fmt::format("{}, {}", name(p.schedule), microbatches) : microbatches);
  if (p.pp > 1 && rules::uneven_stages(s)) all.push_back("stages " + show_layout(p.stages));
  if (p.tp > 1)
    all.emplace_back(p.sequence_parallel ? "sequence parallelism" : "no sequence parallelism");
  if (p.cp > 1) all.push_back(fmt::format("{} context parallelism", name(p.cp_comm)));
  if (s.model.sparse() && p.etp > 1)
    all.push_back(fmt::format("experts split over {} ranks", p.etp));
  if (p.zero > 0 && p.shards() != p.data_ranks())
    all.push_back(fmt::format("hybrid sharding in groups of {}", count(p.shards())));
  if (!rules::same_order(s, mesh::kDefaultOrder)) all.push_back("order " + show(p.order));
  return all;
}

std::string details(const plan::TrainingConfig& s) {
  return fmt::format("{}", fmt::join(list_details(s), " · "));
}

std::string format_difference(Seconds time, Seconds than) {
  const double more = time / than - 1;
  if (std::abs(more) < 5e-4) return "=";
  return fmt::format("{:+.1f} %", 100 * more);
}

std::vector<WhyRow> make_why_rows(const planner::PlanAnswer& view) {
  return make_why_rows(view, view.best());
}

std::vector<WhyRow> make_why_rows(const planner::PlanAnswer& view,
                                  const search::EvaluatedPlan& plan) {
  std::vector<WhyRow> rows;
  for (const KindRow& kind : kNeighborKinds)
    for (std::size_t k = 0; k < view.neighbors.size(); ++k)
      if (view.neighbors[k].kind == kind.kind) rows.push_back(make_why_row(kind, k, view, plan));
  return rows;
}

namespace {

/// Explains why the chosen plan was preferred to the fastest.
std::string explain_preference(const search::EvaluatedPlan& chosen,
                               const search::EvaluatedPlan& fastest, Bytes safe) {
  using search::Advantage;
  const auto rank = [&](const search::EvaluatedPlan& one) {
    return search::rank_preference(one.config, one.estimate.memory.total() <= safe);
  };
  const search::Family a = search::find_family(chosen.config.plan),
                       b = search::find_family(fastest.config.plan);
  const std::optional<Advantage> why = search::find_advantage(rank(chosen), rank(fastest));
  if (!why) return "";
  switch (*why) {
    case Advantage::margin:
      return fmt::format("fits with margin, while that one takes {}",
                         show_memory(fastest.estimate.memory.total(), fastest.estimate.capacity));
    case Advantage::published:
      return "is closer to published runs, so that its estimate is more certain";
    case Advantage::no_full_recompute:
      return "needs no full recomputation";
    case Advantage::fewer_cuts:
      return fmt::format("is simpler: {} besides DP instead of {}",
                         plural(a.cuts(), "axis is split", "axes are split"), b.cuts());
    case Advantage::no_pipeline:
      return "is simpler: it has no pipeline";
    case Advantage::zero_stage:
      return a.zero == 1 && b.zero == 0
                 ? "shards the optimizer states (ZeRO-1), which sends no more bytes"
                 : fmt::format("is simpler: ZeRO stage {} instead of {}", a.zero, b.zero);
    case Advantage::less_recompute:
      return fmt::format("is simpler: {} instead of {}", describe_recomputation(chosen.config.plan),
                         name(fastest.config.plan.recompute));
  }
  return {};
}

/// Returns whether the default screen shows an assumed value: not those that follow from the
/// framework, which the headline names.
bool shows_value(std::string_view key) { return !key.starts_with("software."); }

}  // namespace

std::string describe_preference(const planner::PlanAnswer& view, std::string_view chosen) {
  const search::Answer& a = view.answer;
  if (!a.fastest) return {};
  const search::EvaluatedPlan& best = view.best();
  const std::string reason = explain_preference(best, *a.fastest, view.problem.safe());
  std::string text = fmt::format(
      "The fastest{} takes {} ({}): {}.", a.complete ? "" : " so far", show(a.fastest->time()),
      format_difference(a.fastest->time(), best.time()), brief(a.fastest->config));
  const bool tie = best.time() <= (1 + a.band) * a.min;
  const bool extrapolated =
      !cost::near_validated(a.fastest->config) && cost::near_validated(best.config);
  if (!tie && extrapolated)
    text += fmt::format(
        " Its estimate may be off by {}, as no published run is near it. {} is near published "
        "runs.",
        percent(a.far_band), chosen);
  else if (tie)
    text += fmt::format(" {} is within the estimate error of it ({}){}.", chosen, percent(a.band),
                        reason.empty() ? "" : " and " + reason);
  else if (!reason.empty())
    text += fmt::format(" {} {}.", chosen, reason);
  return text;
}

std::string describe_choices(const planner::PlanAnswer& view, std::string_view chosen) {
  const search::Answer& a = view.answer;
  const search::EvaluatedPlan& best = view.best();
  std::string text = describe_preference(view, chosen);
  if (text.empty())
    text = fmt::format(
        "The fastest{}{}.", a.complete ? "" : " so far",
        a.margin ? fmt::format("; with other degrees, ZeRO or recomputation, a step takes at least "
                               "{} more",
                               percent(std::max(0.0, *a.margin)))
                 : "; no other plan fits");
  const cost::Item longest = [&] {
    cost::Item max = cost::Item::tp;
    for (const cost::ItemRow& of : cost::items())
      if (!of.computes && best.estimate.step[of.item] > best.estimate.step[max]) max = of.item;
    return max;
  }();
  const cost::StepTime& step = best.estimate.step;
  return text + fmt::format(" {} of the step is compute; the largest other part is {}: {}.",
                            percent(step.compute() / step.total()), row(longest).name,
                            show(step[longest]));
}

std::string describe_memory(const search::EvaluatedPlan& best) {
  return rules::describe_memory_verdict(best.estimate);
}

std::string describe_trade(const search::Problem& problem, const search::TradePoint& point) {
  if (point.gpus != problem.config.world)
    return fmt::format("1/{} of the GPUs: {}", problem.config.world / point.gpus,
                       count(point.gpus));
  const double free = 1 - point.limit / problem.capacity;
  return fmt::format("leave {} of the memory free", percent(free));
}

std::string describe_assumptions(const plan::TrainingConfig& s) {
  std::string text;
  for (const plan::Assumption& a : s.assumed)
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", a.key.substr(a.key.rfind('.') + 1),
                        a.value, a.why.empty() ? "" : fmt::format(" ({})", a.why));
  return text;
}

std::string describe_changeable_assumptions(const plan::TrainingConfig& s) {
  std::string values, flags;
  for (const planner::KeyOption& option : planner::key_options())
    for (const plan::Assumption& a : s.assumed) {
      if (a.key != option.key || !shows_value(a.key)) continue;
      values += fmt::format("{}{} {}", values.empty() ? "" : ", ",
                            a.key.substr(a.key.rfind('.') + 1), a.value);
      flags += fmt::format("{}--{}", flags.empty() ? "" : ", ", option.name);
    }
  return values.empty() ? "" : fmt::format("{}; change with {}", values, flags);
}

std::string describe_assumed_drives(const plan::TrainingConfig& config) {
  if (config.plan.offload.nvme == plan::NvmeStates::none || states_nvme_rates(config.cluster))
    return "";
  const cluster::Nvme drives = find_nvme(config.cluster);
  return fmt::format(
      "NVMe at {} read, {} written per node, the rates of one drive; change with "
      "nvme_read and nvme_write in the cluster file",
      show(drives.read), show(drives.write));
}

cost::Entry find_largest_item(const cost::MemoryEstimate& memory) {
  cost::Entry max{};
  for (const cost::EntryRow& of : cost::entries())
    if (memory[of.entry] > memory[max]) max = of.entry;
  return max;
}

}  // namespace rankwright::report
