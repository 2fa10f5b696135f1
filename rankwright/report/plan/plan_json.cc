#include "rankwright/report/plan/plan_json.h"

#include "rankwright/report/explain/config_json.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/plan/search_sentences.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_items_json(const cost::StepTime& step) {
  ordered_json all = ordered_json::object();
  for (const cost::ItemRow& of : cost::items())
    if (step[of.item] > Seconds{}) all[std::string(of.name)] = step[of.item].value;
  return all;
}

ordered_json make_entries_json(const cost::MemoryEstimate& memory) {
  ordered_json all = ordered_json::object();
  for (const cost::EntryRow& of : cost::entries())
    if (memory[of.entry] > Bytes{}) all[std::string(of.name)] = memory[of.entry].value;
  return all;
}

ordered_json make_memory_json(const cost::Estimate& e) {
  return {{"pp_rank", e.memory.pp_rank},          {"total_bytes", e.memory.total().value},
          {"capacity_bytes", e.capacity.value},   {"fits", e.fits()},
          {"verdict", name(e.verdict())},         {"sure", e.sure()},
          {"band", make_band_json(e.memory_band)}};
}

ordered_json make_mfu_json(const plan::TrainingConfig& s, Seconds step) {
  return {{"megatron_causal", cost::mfu(s, step)},
          {"palm_full", cost::mfu(s, step, model::FlopsConvention::palm_full)}};
}

/// Describes a plan and its estimate; with `more`, all items of the step and of its memory.
ordered_json make_priced_json(const search::EvaluatedPlan& one, bool more = false) {
  const cost::Estimate& e = one.estimate;
  ordered_json json = {
      {"brief", brief(one.config)},
      {"world", one.config.world},
      {"plan", make_plan_json(one.config)},
      {"step_seconds", one.time().value},
      {"closed_form_seconds", one.closed.value},
      {"band", make_band_json(e.step_band)},
      {"tokens_per_second_per_device", cost::tokens_per_second(one.config, one.time())},
      {"mfu", make_mfu_json(one.config, one.time())},
      {"memory", make_memory_json(e)}};
  if (more) {
    json["items_seconds"] = make_items_json(e.step);
    json["entries_bytes"] = make_entries_json(e.memory);
  }
  return json;
}

ordered_json make_optional_json(const std::optional<search::EvaluatedPlan>& one) {
  return one ? make_priced_json(*one) : ordered_json(nullptr);
}

ordered_json make_neighbors_json(const planner::PlanAnswer& view) {
  constexpr std::string_view kVerdicts[] = {"evaluated", "violation", "rule", "memory"};
  ordered_json all = ordered_json::array();
  if (!view.answer.best) return all;
  for (const WhyRow& row : make_why_rows(view)) {
    const search::Neighbor& n = view.neighbors[row.neighbour];
    const bool runs = n.verdict == search::Neighbor::Verdict::evaluated;
    const bool held = runs || n.verdict == search::Neighbor::Verdict::memory;
    all.push_back(
        {{"change", row.change},
         {"key", row.key},
         {"searched", n.searched},
         {"verdict", kVerdicts[std::size_t(n.verdict)]},
         {"plan", make_plan_json(n.config)},
         {"step_seconds", runs ? ordered_json(n.time.value) : ordered_json(nullptr)},
         {"difference",
          runs ? ordered_json(n.time / view.best().time() - 1) : ordered_json(nullptr)},
         {"memory_bytes", held ? ordered_json(n.memory.total().value) : ordered_json(nullptr)},
         {"violation", n.violation ? ordered_json(name(n.violation.why)) : ordered_json(nullptr)},
         {"rule", n.rule.empty() ? ordered_json(nullptr) : ordered_json(n.rule)},
         {"because", row.because}});
  }
  return all;
}

ordered_json make_trade_json(const planner::PlanAnswer& view) {
  ordered_json all = ordered_json::array();
  for (const search::TradePoint& point : view.trade)
    all.push_back({{"gpus", point.gpus},
                   {"limit_bytes", point.limit.value},
                   {"plan", make_optional_json(point.plan)}});
  return all;
}

ordered_json make_search_json(const planner::PlanAnswer& view) {
  const search::Answer& a = view.answer;
  ordered_json violations = ordered_json::object(), rules = ordered_json::object();
  for (const auto& [why, n] : a.stats.violations) violations[std::string(name(why))] = n;
  for (const auto& [code, n] : a.stats.rules) rules[std::string(code)] = n;
  return {{"complete", a.complete},           {"candidates", a.stats.candidates + a.undecided},
          {"violations", violations},         {"rules", rules},
          {"duplicates", a.stats.duplicates}, {"memory", a.stats.memory},
          {"pruned", a.stats.pruned},         {"evaluated", a.stats.evaluated},
          {"undecided", a.undecided},         {"ranked_again", a.ranked_again},
          {"simulated", a.simulated},         {"closed_form_error", a.simulation_error},
          {"space", describe_space(view)}};
}

ordered_json make_targets_json(const planner::PlanAnswer& view) {
  ordered_json all = ordered_json::array();
  for (const planner::TargetVerdict& verdict : view.targets) {
    ordered_json broken = ordered_json::array();
    for (const rules::Rule* rule : verdict.broken)
      broken.push_back({{"code", rule->page.code},
                        {"severity", name(rule->page.severity)},
                        {"title", rule->page.title}});
    all.push_back({{"target", verdict.target->name},
                   {"accepted", verdict.broken.empty()},
                   {"broken", broken}});
  }
  return all;
}

ordered_json make_savings_json(const planner::PlanAnswer& view) {
  ordered_json all = ordered_json::array();
  for (const planner::Saving& one : view.savings)
    all.push_back({{"name", one.row->name},
                   {"options", one.flags()},
                   {"host_bytes", one.plan.estimate.memory.host.value},
                   {"plan", make_priced_json(one.plan, false)}});
  return all;
}

ordered_json make_leanest_json(const planner::PlanAnswer& view) {
  if (!view.leanest) return nullptr;
  const auto& [lean, memory] = *view.leanest;
  return {{"brief", brief(lean)},
          {"plan", make_plan_json(lean)},
          {"pp_rank", memory.pp_rank},
          {"total_bytes", memory.total().value},
          {"capacity_bytes", view.problem.capacity.value},
          {"verdict", name(judge_memory(memory, lean))},
          {"largest_entry", row(find_largest_item(memory)).name},
          {"entries_bytes", make_entries_json(memory)}};
}

ordered_json make_own_json(const planner::PlanAnswer& view) {
  if (!view.own) return nullptr;
  return {{"name", view.own->name},
          {"possible", view.own->evaluated.has_value()},
          {"plan", make_plan_json(view.own->config)},
          {"evaluated", make_optional_json(view.own->evaluated)}};
}

ordered_json make_hosts_json(const planner::PlanAnswer& view) {
  if (!view.hosts) return nullptr;
  const planner::HostUse& out = *view.hosts;
  ordered_json broken = ordered_json::object();
  for (const auto& [why, n] : out.broken) broken[std::string(name(why))] = n;
  ordered_json other = nullptr;
  if (out.other_batch)
    other = {{"global_batch", out.other_batch->global_batch},
             {"used", out.other_batch->hosts},
             {"dp", out.other_batch->dp},
             {"step_seconds", out.other_batch->step.value}};
  return {{"out", out.count},
          {"listed", out.listed},
          {"left", out.left},
          {"used", out.used},
          {"idle", out.left - out.used},
          {"broken_on_all", broken},
          {"counts_tried", out.counts_tried},
          {"cut_short", out.cut_short},
          {"other_batch", other}};
}

ordered_json make_front_json(const search::Answer& a, const search::Problem& problem) {
  ordered_json all = ordered_json::array();
  for (const search::Candidate& one : a.front)
    all.push_back({{"brief", brief(config_of(problem, one.plan))},
                   {"closed_form_seconds", one.time.value},
                   {"memory_bytes", one.memory.value}});
  return all;
}

}  // namespace

std::string make_plan_json(const planner::PlanAnswer& view) {
  const search::Answer& a = view.answer;
  const plan::TrainingConfig& asked = view.problem.config;
  ordered_json rivals = ordered_json::array();
  for (const search::EvaluatedPlan& one : a.rivals) rivals.push_back(make_priced_json(one));
  const auto make_count_json = [](const std::optional<search::CountRow>& row) -> ordered_json {
    if (!row) return nullptr;
    return {{"gpus", row->gpus}, {"plan", make_optional_json(row->plan)}};
  };
  const ordered_json json = {
      {"schema", "rankwright.plan/1"},
      {"headline", format_headline(a.best ? a.best->config : asked)},
      {"world", asked.world},
      {"model", make_model_json(asked)},
      {"cluster", make_cluster_json(asked)},
      {"job", make_job_json(asked)},
      {"target", make_target_json(view.problem.limits.target)},
      {"assumed", make_assumed_json(asked)},
      {"stopped", view.stopped != planner::StopReason::none},
      {"stop_reason", name(view.stopped)},
      {"best", a.best ? make_priced_json(*a.best, true) : ordered_json(nullptr)},
      {"why", a.best ? ordered_json(describe_choices(view)) : ordered_json(nullptr)},
      {"fastest", make_optional_json(a.fastest)},
      {"tie", {{"band", a.band}, {"plans", a.tied}, {"rivals", rivals}}},
      {"margin", a.margin ? ordered_json(*a.margin) : ordered_json(nullptr)},
      {"safe", make_optional_json(a.safe)},
      {"usual_order", make_optional_json(a.usual)},
      {"front", make_front_json(a, view.problem)},
      {"neighbors", make_neighbors_json(view)},
      {"trade", make_trade_json(view)},
      {"own", make_own_json(view)},
      {"training", make_training_json(view.run, view.training)},
      {"hosts", make_hosts_json(view)},
      {"leanest", make_leanest_json(view)},
      {"savings", make_savings_json(view)},
      {"objective", name(view.objective)},
      {"largest", view.largest ? ordered_json(*view.largest) : ordered_json(nullptr)},
      {"fewest", make_count_json(view.fewest)},
      {"fewest_tight", make_count_json(view.fewest_tight)},
      {"search", make_search_json(view)},
      {"targets", make_targets_json(view)}};
  return dump_json(json);
}

}  // namespace rankwright::report
