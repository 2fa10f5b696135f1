#include "rankwright/report/compare/compare_json.h"

#include <nlohmann/json.hpp>

#include "rankwright/report/compare/compare_sentences.h"
#include "rankwright/report/explain/config_json.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/plan/training_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_side_json(const NamedPlan& plan, const cost::Estimate& e,
                            const std::optional<planner::Training>& run,
                            const planner::TrainingRequest& ask) {
  const plan::TrainingConfig& config = plan.config;
  const ordered_json memory = {{"pp_rank", e.memory.pp_rank},
                               {"total_bytes", e.memory.total().value},
                               {"capacity_bytes", e.capacity.value},
                               {"within", e.memory_band.within},
                               {"fits", e.fits()},
                               {"verdict", name(e.verdict())},
                               {"sure", e.sure()}};
  return {{"name", plan.name},
          {"headline", format_headline(config)},
          {"plan", write_plan_line(config)},
          {"world", config.world},
          {"tokens_per_step", config.job.global_batch * config.job.sequence},
          {"step_seconds", e.time().value},
          {"within", e.step_band.within},
          {"tokens_per_second_per_device", cost::tokens_per_second(config, e.time())},
          {"mfu", cost::mfu(config, e.time())},
          {"memory", memory},
          {"training", make_training_json(run, ask)}};
}

ordered_json make_items_json(const planner::CompareView& view) {
  ordered_json all = ordered_json::array();
  for (const planner::TimeRow& of : view.items)
    all.push_back({{"item", row(of.item).name},
                   {"a_seconds", of.a.value},
                   {"b_seconds", of.b.value},
                   {"difference_seconds", of.difference().value}});
  return all;
}

/// Returns null if a model is not given.
ordered_json make_entries_json(const planner::CompareView& view) {
  if (view.entries.empty()) return nullptr;
  ordered_json all = ordered_json::array();
  for (const planner::MemoryRow& of : view.entries)
    all.push_back({{"entry", row(of.entry).name},
                   {"a_bytes", of.a.value},
                   {"b_bytes", of.b.value},
                   {"difference_bytes", of.difference().value}});
  return all;
}

}  // namespace

ordered_json make_compare_document(const NamedPlan& a, const NamedPlan& b,
                                   const planner::CompareView& view) {
  ordered_json keys = ordered_json::array();
  for (const planner::KeyDifference& d : view.keys)
    keys.push_back({{"key", d.key},
                    {"a", d.a},
                    {"b", d.b},
                    {"a_assumed", d.a_assumed},
                    {"b_assumed", d.b_assumed}});
  ordered_json causes = ordered_json::array();
  for (const planner::Cause& cause : view.causes)
    causes.push_back({{"item", row(cause.item).name},
                      {"difference_seconds", cause.difference.value},
                      {"words", cause.words}});
  const CompareSentences words = describe_comparison(a.config, b.config, view);
  ordered_json only = nullptr;  // the plan that can run, if the other cannot
  if (view.a_can_run() != view.b_can_run()) only = view.a_can_run() ? "a" : "b";
  ordered_json faster = only;  // null if both take equally long
  if (only.is_null() && view.gap() > 0) faster = view.lead() > 0 ? "b" : "a";
  return {{"schema", "rankwright.compare/1"},
          {"a", make_side_json(a, view.a, view.run_a, view.training)},
          {"b", make_side_json(b, view.b, view.run_b, view.training)},
          {"basis", name(view.basis)},
          {"unlike", words.unlike},
          {"fit", words.fit},
          {"verdict",
           {{"text", words.verdict},
            {"faster", faster},
            {"only", only},
            {"lead", view.gap()},
            {"within", view.within},
            {"paired", view.paired},
            {"tie", view.tie()}}},
          {"differs", keys},
          {"time",
           {{"items", make_items_json(view)},
            {"a_seconds", view.total_a.value},
            {"b_seconds", view.total_b.value},
            {"difference_seconds", view.difference().value}}},
          {"causes", causes},
          {"memory", make_entries_json(view)}};
}

std::string make_compare_json(const NamedPlan& a, const NamedPlan& b,
                              const planner::CompareView& view) {
  return dump_json(make_compare_document(a, b, view));
}

}  // namespace rankwright::report
