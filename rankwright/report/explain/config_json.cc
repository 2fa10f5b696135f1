#include "rankwright/report/explain/config_json.h"

#include "rankwright/model/flops.h"
#include "rankwright/model/parameters.h"
#include "rankwright/pipeline/bubble.h"

namespace rankwright::report {

using nlohmann::ordered_json;

ordered_json make_model_json(const plan::TrainingConfig& s) {
  const model::Parameters p = count_parameters(s.model);
  const auto flops = [&](model::FlopsConvention convention) {
    return training_flops_per_token(s.model, s.job.sequence, convention).value;
  };
  return {{"name", s.model.name},
          {"reference", s.reference_model},
          {"layers", s.model.layers()},
          {"parameters",
           {{"total", p.total()},
            {"active", count_active_parameters(s.model)},
            {"embedding", p.embedding},
            {"attention", p.attention},
            {"mlp", p.mlp},
            {"router", p.router},
            {"experts", p.experts},
            {"norms", p.norms},
            {"head", p.head}}},
          {"training_flops_per_token",
           {{"megatron_causal", flops(model::FlopsConvention::megatron_causal)},
            {"palm_full", flops(model::FlopsConvention::palm_full)}}}};
}

ordered_json make_cluster_json(const plan::TrainingConfig& s) {
  ordered_json levels = ordered_json::array();
  for (const cluster::Level& level : s.cluster.levels)
    levels.push_back({{"name", level.name},
                      {"arity", level.arity},
                      {"bandwidth_bytes_per_second", level.bandwidth.value},
                      {"bandwidth_origin", name(level.origin)},
                      {"latency_seconds", level.latency.value},
                      {"latency_origin", name(level.latency_origin)},
                      {"oversubscription", level.oversubscription},
                      {"per", level.per == cluster::Level::Per::device ? "device" : "domain"}});
  return {{"name", s.cluster.name},
          {"device", s.cluster.device.name},
          {"devices", s.cluster.devices()},
          {"memory_bytes", s.cluster.device.memory.value},
          {"levels", levels}};
}

ordered_json make_plan_json(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  return {{"tp", p.tp},
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
          {"ideal_bubble_fraction",
           pipeline::bubble_fraction(p.schedule, p.pp, p.virtual_stages, s.microbatches())}};
}

ordered_json make_band_json(const cost::ErrorBand& band) {
  return {{"within", band.within},
          {"runs", band.rows},
          {"origin", name(band.rows > 0 ? cluster::Origin::calibrated : cluster::Origin::assumed)}};
}

ordered_json make_job_json(const plan::TrainingConfig& config) {
  return {{"global_batch", config.job.global_batch},
          {"sequence", config.job.sequence},
          {"param_dtype", name(config.job.param_dtype)},
          {"grad_dtype", name(config.job.grad_dtype)},
          {"optimizer", name(config.job.optimizer)}};
}

std::string dump_json(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json make_assumed_json(const plan::TrainingConfig& config) {
  ordered_json assumed = ordered_json::array();
  for (const plan::Assumption& a : config.assumed)
    assumed.push_back({{"key", a.key}, {"value", a.value}, {"why", a.why}});
  return assumed;
}

ordered_json make_target_json(rules::Target target) {
  return target == rules::Target::any ? ordered_json(nullptr) : ordered_json(row(target).name);
}

}  // namespace rankwright::report
