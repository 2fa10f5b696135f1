#include "rankwright/report/explain/explain_json.h"

#include <nlohmann/json.hpp>

#include "rankwright/report/explain/config_json.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/explain/plan_summary.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_step_json(const plan::TrainingConfig& config, const planner::ExplainView& view) {
  const cost::StepTime& step = view.estimate.step;
  const planner::Waterfall& fall = view.waterfall;
  ordered_json items = ordered_json::array();
  for (const planner::Waterfall::Bar& bar : fall.bars)
    items.push_back({{"item", bar.name},
                     {"seconds", bar.time.value},
                     {"overlapped_seconds", step.overlapped[std::size_t(bar.item)].value},
                     {"share", bar.share},
                     {"computes", bar.computes},
                     {"origin", name(bar.origin)},
                     {"level", bar.level},
                     {"collectives", bar.collectives},
                     {"remark", bar.remark}});
  return {{"seconds", fall.total.value},
          {"band", make_band_json(fall.band)},
          {"tokens_per_second_per_device", cost::tokens_per_second(config, fall.total)},
          {"mfu", cost::mfu(config, fall.total)},
          {"mfu_palm_full", cost::mfu(config, fall.total, model::FlopsConvention::palm_full)},
          {"bubble_fraction", view.estimate.step[cost::Item::bubble] / fall.total},
          {"slowest_pp_rank", step.slowest},
          {"items", items}};
}

ordered_json make_memory_json(const planner::ExplainView& view) {
  const cost::Estimate& e = view.estimate;
  ordered_json entries = ordered_json::array();
  for (const cost::EntryRow& of : rankwright::cost::entries())
    if (e.memory[of.entry] > Bytes{})
      entries.push_back({{"entry", of.name},
                         {"bytes", e.memory[of.entry].value},
                         {"origin", name(of.origin)},
                         {"formula", of.formula},
                         {"meaning", of.meaning}});
  ordered_json totals = ordered_json::array();
  for (const Bytes& total : view.totals) totals.push_back(total.value);
  ordered_json all{{"pp_rank", e.memory.pp_rank},
                   {"instant", name(e.memory.instant)},
                   {"instant_words", words(e.memory.instant)},
                   {"total_bytes", e.memory.total().value},
                   {"capacity_bytes", e.capacity.value},
                   {"fits", e.fits()},
                   {"verdict", name(e.verdict())},
                   {"sure", e.sure()},
                   {"band", make_band_json(e.memory_band)},
                   {"entries", entries},
                   {"total_bytes_by_pp_rank", totals}};
  if (e.memory.host > Bytes{}) all["host_bytes"] = e.memory.host.value;  // offloaded, per rank
  if (e.memory.nvme > Bytes{}) all["nvme_bytes"] = e.memory.nvme.value;
  return all;
}

}  // namespace

ordered_json make_communication_json(const planner::CommunicationRow& c) {
  const plan::Traffic& t = c.evaluated.traffic;
  const plan::TrafficKindRow& kind = row(t.kind);
  return {{"communication", kind.label},
          {"collective", name(t.op)},
          {"group", name(t.group)},
          {"group_size", c.evaluated.span.size},
          {"frequency", kind.frequency},
          {"pp_rank", c.pp_rank},
          {"calls", t.calls},
          {"bytes", t.bytes().value},
          {"total_bytes", t.total.value},
          {"wire_bytes", c.evaluated.wire.value},
          {"preferred_level", c.preferred},
          {"level", c.level},
          {"slowest_level", c.slowest},
          {"algorithm", name(c.evaluated.algorithm)},
          {"groups_per_link", c.evaluated.sharers},
          {"seconds", c.evaluated.total.value},
          {"seconds_origin", name(cluster::Origin::calibrated)},
          {"critical_path", kind.critical},
          {"risk", kind.risk}};
}

ordered_json make_explain_document(const plan::TrainingConfig& config,
                                   const planner::ExplainView& view) {
  ordered_json axes = ordered_json::array();
  for (const planner::AxisRow& row : view.axes)
    axes.push_back({{"axis", row.axis},
                    {"degree", row.degree},
                    {"placement", row.placement},
                    {"reason", row.reason}});
  ordered_json communication = ordered_json::array();
  for (const planner::CommunicationRow& c : view.communication)
    communication.push_back(make_communication_json(c));
  ordered_json states = ordered_json::array();
  for (const planner::StateRow& s : view.states)
    states.push_back({{"state", s.state},
                      {"tp", s.tp},
                      {"pp", s.pp},
                      {"cp", s.cp},
                      {"dp", s.dp},
                      {"ep", s.ep},
                      {"consistent", s.consistent},
                      {"critical", s.critical}});
  return {
      {"schema", "rankwright.explain/2"},
      {"headline", format_headline(config)},
      {"words", describe_plan(config, view)},
      {"world", config.world},
      {"model", make_model_json(config)},
      {"cluster", make_cluster_json(config)},
      {"job", make_job_json(config)},
      {"plan", make_plan_json(config)},
      {"axes", axes},
      {"communication", communication},
      {"states", states},
      {"estimate", {{"step", make_step_json(config, view)}, {"memory", make_memory_json(view)}}},
      {"assumed", make_assumed_json(config)}};
}

std::string make_explain_json(const plan::TrainingConfig& config,
                              const planner::ExplainView& view) {
  return dump_json(make_explain_document(config, view));
}

}  // namespace rankwright::report
