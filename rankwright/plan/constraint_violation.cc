#include "rankwright/plan/constraint_violation.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "rankwright/model/parameters.h"

namespace rankwright::plan {
namespace {

using Why = ConstraintViolation::Why;

ConstraintViolation degrees(const TrainingConfig& s) {
  const Plan& p = s.plan;
  const std::optional<i64> ranks = product({p.tp, p.cp, p.dp, p.pp});
  if (ranks && *ranks == s.world) return {};
  return {Why::degrees, ranks.value_or(-1), s.world};
}

ConstraintViolation devices(const TrainingConfig& s) {
  if (s.world <= s.cluster.devices()) return {};
  return {Why::devices, s.world, s.cluster.devices()};
}

ConstraintViolation expert_ranks(const TrainingConfig& s) {
  if (s.plan.ep == 1 && s.plan.etp == s.plan.tp) return {};  // degrees() checks the dense mesh
  const std::optional<i64> ranks = product({s.plan.etp, s.plan.ep, s.plan.pp});
  if (ranks && divides(*ranks, s.world)) return {};
  return {Why::expert_ranks, ranks.value_or(-1), s.world};
}

ConstraintViolation pipelines_differ(const TrainingConfig& s) {
  if (!s.model.sparse()) return {};  // without expert layers there is no second pipeline
  const mesh::MeshPair meshes = s.plan.meshes();
  if (meshes.same_pipeline()) return {};
  return {Why::pipelines_differ, meshes.expert.stride(mesh::Axis::pp),
          meshes.dense.stride(mesh::Axis::pp)};
}

ConstraintViolation placement(const TrainingConfig& s) {
  if (s.plan.placement.kind != mesh::Placement::Kind::listed) return {};
  const std::vector<i64>& listed = s.plan.placement.devices;
  if (i64(listed.size()) != s.world) return {Why::placement, i64(listed.size()), s.world};
  const i64 devices =
      std::max(s.world, s.cluster.devices());  // too few devices is a violation of its own
  std::vector<bool> seen(std::size_t(devices), false);
  for (const i64 device : listed) {
    if (device < 0 || device >= devices || seen[std::size_t(device)])
      return {Why::placement, device, devices};
    seen[std::size_t(device)] = true;
  }
  return {};
}

ConstraintViolation heads(const TrainingConfig& s) {
  for (const model::LayerRun& run : s.model.runs)
    if (!divides(s.plan.tp, run.layer.attention.heads))
      return {Why::heads, s.plan.tp, run.layer.attention.heads};
  return {};
}

ConstraintViolation kv_heads(const TrainingConfig& s) {
  for (const model::LayerRun& run : s.model.runs) {
    const model::Attention& a = run.layer.attention;
    if (a.kv_heads == 0) continue;  // latent attention, or a layer without attention
    if (!divides(s.plan.tp, a.kv_heads) && !divides(a.kv_heads, s.plan.tp))
      return {Why::kv_heads, s.plan.tp, a.kv_heads};
  }
  return {};
}

ConstraintViolation ffn(const TrainingConfig& s) {
  for (const model::LayerRun& run : s.model.runs) {
    const model::FeedForward& f = run.layer.ffn;
    const i64 width = f.sparse() ? f.shared_width : f.width;
    if (width > 0 && !divides(s.plan.tp, width)) return {Why::ffn, s.plan.tp, width};
  }
  return {};
}

ConstraintViolation expert_ffn(const TrainingConfig& s) {
  for (const model::LayerRun& run : s.model.runs) {
    const model::FeedForward& f = run.layer.ffn;
    if (f.sparse() && !divides(s.plan.etp, f.expert_width))
      return {Why::expert_ffn, s.plan.etp, f.expert_width};
  }
  return {};
}

ConstraintViolation no_experts(const TrainingConfig& s) {
  if (s.plan.ep == 1 || s.model.sparse()) return {};
  return {Why::no_experts, s.plan.ep, 0};
}

ConstraintViolation experts(const TrainingConfig& s) {
  for (const model::LayerRun& run : s.model.runs)
    if (run.layer.ffn.sparse() && !divides(s.plan.ep, run.layer.ffn.experts))
      return {Why::experts, s.plan.ep, run.layer.ffn.experts};
  return {};
}

ConstraintViolation stages(const TrainingConfig& s) {
  // A stated split may have stages without layers (the loss alone); stage_count() checks it against
  // pp x v.
  const std::optional<i64> count = product({s.plan.pp, s.plan.virtual_stages});
  if (!s.plan.stages.empty() || (count && *count <= s.model.layers())) return {};
  return {Why::stages, count.value_or(-1), s.model.layers()};
}

ConstraintViolation stage_count(const TrainingConfig& s) {
  const std::optional<i64> count = product({s.plan.pp, s.plan.virtual_stages});
  const i64 stated = i64(s.plan.stages.size());
  if (stated == 0 || (count && stated == *count)) return {};
  return {Why::stage_count, stated, count.value_or(-1)};
}

ConstraintViolation stage_layers(const TrainingConfig& s) {
  if (s.plan.stages.empty()) return {};
  const i64 stated = count_layers(s.plan.stages);
  if (stated == s.model.layers()) return {};
  return {Why::stage_layers, stated, s.model.layers()};
}

ConstraintViolation batch(const TrainingConfig& s) {
  const std::optional<i64> at_once = product({s.plan.micro_batch, s.plan.dp});
  if (at_once && divides(*at_once, s.job.global_batch)) return {};
  return {Why::batch, at_once.value_or(-1), s.job.global_batch};
}

/// Checks the schedule's requirements on the pipeline, which schedule.h defines.
ConstraintViolation shape(const TrainingConfig& s) {
  using Fault = pipeline::ShapeFault::Why;
  // The number of microbatches is undefined while the micro-batch size does not divide the batch.
  const bool counted = !batch(s);
  const pipeline::ShapeFault fault =
      pipeline::find_shape_fault({.schedule = s.plan.schedule,
                                  .pp = s.plan.pp,
                                  .chunks = s.plan.virtual_stages,
                                  .microbatches = counted ? s.microbatches() : 0,
                                  .group = s.plan.microbatch_group});
  switch (fault.why) {
    case Fault::none:
      return {};
    case Fault::chunks:
      return {Why::chunks, fault.have, fault.need};
    case Fault::pp_multiple:
      return {Why::pp_multiple, fault.have, fault.need};
    case Fault::microbatch_multiple:
      return {Why::microbatch_multiple, fault.have, fault.need};
    case Fault::microbatches:
      return counted ? ConstraintViolation{Why::microbatches, fault.have, fault.need}
                     : ConstraintViolation{};
    case Fault::group:
      return {Why::group, fault.have, fault.need};
  }
  return {};
}

ConstraintViolation sequence_cp(const TrainingConfig& s) {
  if (s.plan.cp == 1) return {};
  const std::optional<i64> halves = product({2, s.plan.cp});
  if (halves && divides(*halves, s.job.sequence)) return {};
  return {Why::sequence_cp, halves.value_or(-1), s.job.sequence};
}

ConstraintViolation sequence_tp(const TrainingConfig& s) {
  if (!s.plan.sequence_parallel || s.plan.tp == 1) return {};
  // With cp, each rank has two equal pieces of the sequence, and tp divides their sum: cp x lcm(2,
  // tp).
  const i64 unit = s.plan.cp == 1 ? s.plan.tp : std::lcm(i64{2}, s.plan.tp);
  const std::optional<i64> need = product({s.plan.cp, unit});
  if (need && divides(*need, s.job.sequence)) return {};
  return {Why::sequence_tp, need.value_or(-1), s.job.sequence};
}

ConstraintViolation ulysses(const TrainingConfig& s) {
  if (s.plan.cp_comm != CpComm::a2a || s.plan.cp == 1) return {};
  for (const model::LayerRun& run : s.model.runs) {
    const i64 local = run.layer.attention.heads / s.plan.tp;
    if (!divides(s.plan.cp, local)) return {Why::ulysses, s.plan.cp, local};
  }
  return {};
}

ConstraintViolation shard(const TrainingConfig& s) {
  if (s.plan.shard_size == 0 || valid_shard_size(s.plan.meshes(), s.plan.shard_size)) return {};
  return {Why::shard, s.plan.shard_size, s.plan.data_ranks()};
}

ConstraintViolation buckets(const TrainingConfig& s) {
  if (s.plan.bucket_size == 0) return {};
  const i64 all = count_parameters(s.model).total() + count_mtp_parameters(s.model).total();
  const i64 min = ceil_div(all, kMaxBuckets);
  if (s.plan.bucket_size >= min) return {};
  return {Why::buckets, s.plan.bucket_size, min};
}

using Test = ConstraintViolation (*)(const TrainingConfig&);

/// Must hold for the groups to be defined.
constexpr Test kMeshTests[] = {degrees, devices, expert_ranks};

constexpr Test kTests[] = {heads,       kv_heads,    no_experts, experts,      batch,
                           stages,      stage_count, shape,      ffn,          expert_ffn,
                           sequence_cp, sequence_tp, ulysses,    stage_layers, buckets};

/// Constraints on schedule, chunks and stages.
constexpr Test kPipelineTests[] = {stages, stage_count, shape, stage_layers};

/// Constraints on groups.
constexpr Test kGroupTests[] = {shard, pipelines_differ, placement};

}  // namespace

ConstraintViolation find_first_violation(const TrainingConfig& config) {
  for (const std::span<const Test> tests :
       {std::span<const Test>(kMeshTests), std::span<const Test>(kTests),
        std::span<const Test>(kGroupTests)})
    for (const Test test : tests)
      if (const ConstraintViolation violation = test(config)) return violation;
  return {};
}

ConstraintViolation find_first_pipeline_violation(const TrainingConfig& config) {
  for (const Test test : kPipelineTests)
    if (const ConstraintViolation violation = test(config)) return violation;
  return {};
}

std::vector<ConstraintViolation> find_violations(const TrainingConfig& config) {
  std::vector<ConstraintViolation> found;
  const auto collect = [&](std::span<const Test> tests) {
    for (const Test test : tests)
      if (const ConstraintViolation violation = test(config)) found.push_back(violation);
  };
  collect(kMeshTests);
  const bool groups = found.empty();
  collect(kTests);
  if (groups) collect(kGroupTests);
  return found;
}

}  // namespace rankwright::plan
