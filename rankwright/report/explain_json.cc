#include "rankwright/report/explain_json.h"

#include <nlohmann/json.hpp>

#include "rankwright/cost/bubble.h"
#include "rankwright/model/flops.h"
#include "rankwright/model/parameters.h"
#include "rankwright/report/waterfall.h"
#include "rankwright/report/words.h"

namespace rankwright {
namespace {

using nlohmann::ordered_json;

ordered_json model_json(const Setup& s) {
  const Parameters p = parameters(s.model);
  const auto flops = [&](FlopsConvention convention) {
    return training_flops_per_token(s.model, s.job.sequence, convention).value;
  };
  return {{"name", s.model.name},
          {"reference", s.reference_model},
          {"layers", s.model.layers()},
          {"parameters",
           {{"total", p.total()},
            {"active", active_parameters(s.model)},
            {"embedding", p.embedding},
            {"attention", p.attention},
            {"mlp", p.mlp},
            {"router", p.router},
            {"experts", p.experts},
            {"norms", p.norms},
            {"head", p.head}}},
          {"training_flops_per_token",
           {{"megatron_causal", flops(FlopsConvention::megatron_causal)},
            {"palm_full", flops(FlopsConvention::palm_full)}}}};
}

ordered_json cluster_json(const Setup& s) {
  ordered_json levels = ordered_json::array();
  for (const Level& level : s.cluster.levels)
    levels.push_back({{"name", level.name},
                      {"arity", level.arity},
                      {"bandwidth_bytes_per_second", level.bandwidth.value},
                      {"bandwidth_origin", name(level.origin)},
                      {"latency_seconds", level.latency.value},
                      {"latency_origin", name(level.latency_origin)},
                      {"oversubscription", level.oversubscription},
                      {"per", level.per == Level::Per::device ? "device" : "domain"}});
  return {{"name", s.cluster.name},
          {"device", s.cluster.device.name},
          {"devices", s.cluster.devices()},
          {"memory_bytes", s.cluster.device.memory.value},
          {"levels", levels}};
}

ordered_json plan_json(const Setup& s) {
  const Plan& p = s.plan;
  return {
      {"tp", p.tp},
      {"cp", p.cp},
      {"pp", p.pp},
      {"dp", p.dp},
      {"ep", p.ep},
      {"etp", p.etp},
      {"order", show(p.order)},
      {"zero_stage", p.zero},
      {"shard_size", p.shards()},
      {"sequence_parallel", p.sequence_parallel},
      {"cp_comm", name(p.cp_comm)},
      {"micro_batch", p.micro_batch},
      {"microbatches", s.microbatches()},
      {"virtual_stages", p.virtual_stages},
      {"schedule", name(p.schedule)},
      {"stages", show_layout(s.stages())},
      {"recompute", name(p.recompute)},
      {"bubble_fraction", bubble_fraction(p.schedule, p.pp, p.virtual_stages, s.microbatches())}};
}

ordered_json communication_json(const CommunicationRow& c) {
  const Traffic& t = c.priced.traffic;
  const TrafficKindRow& kind = row(t.kind);
  return {{"communication", kind.label},
          {"collective", name(t.op)},
          {"group", name(t.group)},
          {"group_size", c.priced.span.size},
          {"frequency", kind.frequency},
          {"pp_rank", c.pp_rank},
          {"calls", t.calls},
          {"bytes", t.bytes().value},
          {"total_bytes", t.total.value},
          {"wire_bytes", c.priced.wire.value},
          {"preferred_level", c.preferred},
          {"level", c.level},
          {"slowest_level", c.slowest},
          {"algorithm", name(c.priced.algorithm)},
          {"groups_per_link", c.priced.sharers},
          {"seconds", c.priced.total.value},
          {"seconds_origin", name(Origin::calibrated)},
          {"critical_path", kind.critical},
          {"risk", kind.risk}};
}

ordered_json band_json(const ErrorBand& band) {
  return {{"within", band.within},
          {"runs", band.rows},
          {"origin", name(band.rows > 0 ? Origin::calibrated : Origin::assumed)}};
}

ordered_json step_json(const Setup& setup, const Worksheet& sheet) {
  const StepTime& step = sheet.estimate.step;
  const Waterfall fall = waterfall(setup, sheet);
  ordered_json items = ordered_json::array();
  for (const Waterfall::Bar& bar : fall.bars)
    items.push_back({{"item", bar.name},
                     {"seconds", bar.time.value},
                     {"share", bar.share},
                     {"computes", bar.computes},
                     {"origin", name(bar.origin)},
                     {"remark", bar.remark}});
  return {{"seconds", fall.total.value},
          {"band", band_json(fall.band)},
          {"tokens_per_second_per_device", tokens_per_second(setup, fall.total)},
          {"mfu", mfu(setup, fall.total)},
          {"slowest_pp_rank", step.slowest},
          {"hidden_dp_seconds", step.hidden_dp.value},
          {"items", items}};
}

/// Null of a model that is not named.
ordered_json memory_json(const Setup& setup, const Worksheet& sheet) {
  if (setup.reference_model) return nullptr;
  const Estimate& e = sheet.estimate;
  ordered_json entries = ordered_json::array();
  for (const EntryRow& of : rankwright::entries())
    if (e.memory[of.entry] > Bytes{})
      entries.push_back({{"entry", of.name},
                         {"bytes", e.memory[of.entry].value},
                         {"origin", name(of.origin)},
                         {"formula", of.formula},
                         {"meaning", of.meaning}});
  ordered_json totals = ordered_json::array();
  for (const Bytes& total : sheet.totals) totals.push_back(total.value);
  return {{"pp_rank", e.memory.pp_rank},
          {"instant", name(e.memory.instant)},
          {"total_bytes", e.memory.total().value},
          {"capacity_bytes", e.capacity.value},
          {"fits", e.fits()},
          {"sure", e.sure()},
          {"band", band_json(e.memory_band)},
          {"entries", entries},
          {"total_bytes_by_pp_rank", totals}};
}

}  // namespace

std::string explain_json(const Setup& setup, const Worksheet& sheet) {
  ordered_json axes = ordered_json::array();
  for (const AxisRow& row : sheet.axes)
    axes.push_back({{"axis", row.axis},
                    {"degree", row.degree},
                    {"placement", row.placement},
                    {"reason", row.reason}});
  ordered_json communication = ordered_json::array();
  for (const CommunicationRow& c : sheet.communication)
    communication.push_back(communication_json(c));
  ordered_json states = ordered_json::array();
  for (const StateRow& s : sheet.states)
    states.push_back({{"state", s.state},
                      {"tp", s.tp},
                      {"pp", s.pp},
                      {"cp", s.cp},
                      {"dp", s.dp},
                      {"ep", s.ep},
                      {"consistent", s.consistent},
                      {"critical", s.critical}});
  ordered_json assumed = ordered_json::array();
  for (const Assumption& a : setup.assumed)
    assumed.push_back({{"key", a.key}, {"value", a.value}, {"why", a.why}});
  const ordered_json json = {
      {"schema", "rankwright.explain/2"},
      {"headline", headline(setup)},
      {"words", sheet.words},
      {"world", setup.world},
      {"model", model_json(setup)},
      {"cluster", cluster_json(setup)},
      {"job",
       {{"global_batch", setup.job.global_batch},
        {"sequence", setup.job.sequence},
        {"param_dtype", name(setup.job.param_dtype)},
        {"grad_dtype", name(setup.job.grad_dtype)},
        {"optimizer", name(setup.job.optimizer)}}},
      {"plan", plan_json(setup)},
      {"axes", axes},
      {"communication", communication},
      {"states", states},
      {"estimate", {{"step", step_json(setup, sheet)}, {"memory", memory_json(setup, sheet)}}},
      {"assumed", assumed}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright
