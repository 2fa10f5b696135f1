#include "rankwright/rules/change.h"

#include <algorithm>

namespace rankwright::rules {
namespace {

std::string text(bool on) { return on ? "true" : "false"; }

/// Returns whether the mesh's order and `order` agree after dropping axes of degree 1.
bool same_order(const mesh::Mesh& mesh, const mesh::Order& order) {
  const auto split = [&](const mesh::Order& axes) {
    std::vector<mesh::Axis> kept;
    for (const mesh::Axis axis : axes)
      if (mesh.degree(axis) > 1) kept.push_back(axis);
    return kept;
  };
  return split(mesh.order) == split(order);
}

i64 max_experts(const model::Model& model) {
  i64 experts = 1;
  for (const model::LayerRun& run : model.runs) experts = std::max(experts, run.layer.ffn.experts);
  return experts;
}

}  // namespace

Change& Change::add(std::string_view key, std::string value) {
  edits_.push_back(edit(key, std::move(value)));
  return *this;
}

Change& Change::world(i64 ranks) {
  config_.world = ranks;
  return add("world_size", std::to_string(ranks));
}

Change& Change::order(const mesh::Order& order) {
  config_.plan.order = order;
  return add("parallelism.order", show(order));
}

Change& Change::degrees(i64 tp, i64 pp, i64 dp) {
  const plan::Plan before = config_.plan;
  config_ = with_degrees(config_, tp, pp, dp);
  if (tp != before.tp) add("parallelism.tp_size", std::to_string(tp));
  if (pp != before.pp) add("parallelism.pp_size", std::to_string(pp));
  if (dp != before.dp) add("parallelism.dp_size", std::to_string(dp));
  return *this;
}

Change& Change::cp(i64 degree) {
  config_.plan.cp = degree;
  return add("parallelism.cp_size", std::to_string(degree));
}

Change& Change::experts(i64 ep, i64 etp) {
  if (ep != config_.plan.ep) add("parallelism.ep_size", std::to_string(ep));
  config_.plan.ep = ep;
  config_.plan.etp = etp;
  return add("parallelism.etp_size", std::to_string(etp));
}

Change& Change::zero(int stage) {
  // By default parameters are gathered early exactly when sharding is on: keep following that
  // default.
  bool& gather = config_.plan.overlap.param_gather;
  if (gather == (config_.plan.zero >= 1)) gather = stage >= 1;
  config_.plan.zero = stage;
  return add("parallelism.zero_stage", std::to_string(stage));
}

Change& Change::shard_size(i64 ranks) {
  config_.plan.shard_size = ranks;
  return add("parallelism.shard_size", std::to_string(ranks));
}

Change& Change::bucket_size(i64 elements) {
  config_.plan.bucket_size = elements;
  return add("parallelism.bucket_size", std::to_string(elements));
}

Change& Change::sequence_parallel(bool on) {
  config_.plan.sequence_parallel = on;
  return add("parallelism.sequence_parallel", text(on));
}

Change& Change::cp_comm(plan::CpComm comm) {
  config_.plan.cp_comm = comm;
  return add("parallelism.cp_comm", std::string(name(comm)));
}

Change& Change::chunks(i64 chunks, pipeline::Schedule schedule) {
  if (config_.plan.virtual_stages != chunks)
    add("parallelism.virtual_stages", std::to_string(chunks));
  config_.plan.virtual_stages = chunks;
  config_.plan.schedule = schedule;
  if (config_.left_open("job.global_batch"))
    config_.job.global_batch = assume_global_batch(config_).value_or(config_.job.global_batch);
  return add("parallelism.schedule", std::string(name(schedule)));
}

Change& Change::microbatch_group(i64 size) {
  config_.plan.microbatch_group = size;
  return add("parallelism.microbatch_group", std::to_string(size));
}

Change& Change::even_stages() {
  config_.plan.stages.clear();
  config_.plan.stages = config_.stages();
  return add("parallelism.stages", show_layout(config_.plan.stages));
}

Change& Change::recompute(plan::Recompute recompute) {
  config_.plan.recompute = recompute;
  config_.plan.recompute_layers = 0;
  return add("parallelism.recompute", std::string(name(recompute)));
}

Change& Change::recompute_layers(i64 layers) {
  config_.plan.recompute = plan::Recompute::full;
  config_.plan.recompute_layers = layers;
  return add("parallelism.recompute", "{full: " + std::to_string(layers) + "}");
}

Change& Change::micro_batch(i64 sequences) {
  config_.plan.micro_batch = sequences;
  if (config_.left_open("job.global_batch"))
    config_.job.global_batch = assume_global_batch(config_).value_or(config_.job.global_batch);
  return add("parallelism.micro_batch", std::to_string(sequences));
}

Change& Change::loss(plan::Loss loss) {
  config_.software.loss = loss;
  return add("software.loss", std::string(name(loss)));
}

Change& Change::sync_each_batch() {
  config_.software.accumulation = plan::Accumulation::shards;
  return add("software.sync_each_batch", text(true));
}

Change& Change::overlap_grad_reduce(bool on) {
  config_.plan.overlap.grad_reduce = on;
  return add("parallelism.overlap.grad_reduce", text(on));
}

Change& Change::overlap_param_gather(bool on) {
  config_.plan.overlap.param_gather = on;
  return add("parallelism.overlap.param_gather", text(on));
}

Change& Change::overlap_tp(bool on) {
  config_.plan.overlap.tp = on;
  return add("parallelism.overlap.tp", text(on));
}

Change& Change::overlap_pp(bool on) {
  config_.plan.overlap.pp = on;
  return add("parallelism.overlap.pp", text(on));
}

Change& Change::overlap_ep(bool on) {
  config_.plan.overlap.ep = on;
  return add("parallelism.overlap.ep", text(on));
}

Change& Change::overlap_wgrad(bool on) {
  config_.plan.overlap.wgrad = on;
  return add("parallelism.overlap.wgrad", text(on));
}

Change& Change::block_placement() {
  config_.plan.placement = {};
  return add("placement", "block");
}

Change& Change::microbatches(i64 count) {
  const std::optional<i64> batch = product({count, config_.plan.micro_batch, config_.plan.dp});
  // A batch above kMaxBatch cannot be stated in a file; keep the old one, which fixes nothing.
  if (batch && *batch <= plan::kMaxBatch) config_.job.global_batch = *batch;
  return add("job.global_batch", std::to_string(config_.job.global_batch));
}

Change& Change::sequence(i64 tokens) {
  config_.job.sequence = tokens;
  return add("job.sequence", std::to_string(tokens));
}

Change& Change::param_dtype(plan::Dtype dtype) {
  config_.job.param_dtype = dtype;
  return add("job.param_dtype", std::string(name(dtype)));
}

Change& Change::grad_dtype(plan::Dtype dtype) {
  config_.job.grad_dtype = dtype;
  return add("job.grad_dtype", std::string(name(dtype)));
}

Change& Change::matmul(plan::Matmul matmul) {
  config_.job.matmul = matmul;
  return add("job.matmul", std::string(name(matmul)));
}

Change& Change::optimizer(plan::Optimizer optimizer) {
  config_.job.optimizer = optimizer;
  return add("job.optimizer", std::string(name(optimizer)));
}

bool fixes_fault(const plan::TrainingConfig& before, const plan::TrainingConfig& after, Fault fault,
                 std::span<const Fault> faults) {
  if (!removes_violation(before, after, plan::ConstraintViolation::Why::none) || fault(after))
    return false;
  return std::all_of(faults.begin(), faults.end(),
                     [&](Fault other) { return !other(after) || other(before); });
}

std::vector<Edit> first_fix(const plan::TrainingConfig& config, Fault fault,
                            std::span<const Fault> faults, const std::vector<Change>& changes) {
  for (const Change& change : changes)
    if (fixes_fault(config, change.config(), fault, faults)) return change.edits();
  return {};
}

std::vector<Edit> fix_by_degrees(const plan::TrainingConfig& config, Fault fault,
                                 std::span<const Fault> faults, const ConfigPredicate& wanted) {
  return find_other_degrees(
      config, plan::ConstraintViolation::Why::none, [&](const plan::TrainingConfig& after) {
        return (!wanted || wanted(after)) && fixes_fault(config, after, fault, faults);
      });
}

std::vector<Edit> fix_by_experts(const plan::TrainingConfig& config, Fault fault,
                                 std::span<const Fault> faults) {
  const i64 stated = config.plan.ep;
  std::vector<i64> degrees = list_divisors(max_experts(config.model));
  std::stable_sort(degrees.begin(), degrees.end(),
                   [&](i64 a, i64 b) { return std::abs(a - stated) < std::abs(b - stated); });
  std::vector<Change> changes;
  for (const i64 ep : degrees)
    for (const i64 etp : {config.plan.etp, i64{1}, config.plan.tp})
      changes.push_back(Change(config).experts(ep, etp));
  return first_fix(config, fault, faults, changes);
}

bool same_order(const plan::TrainingConfig& config, const mesh::Order& order) {
  const mesh::MeshPair meshes = config.plan.meshes();
  return same_order(meshes.dense, order) &&
         (!config.model.sparse() || same_order(meshes.expert, order));
}

std::optional<i64> find_undivided_kv_heads(const model::Model& model, i64 ranks) {
  for (const model::LayerRun& run : model.runs) {
    const model::Attention& attention = run.layer.attention;
    if (attention.kind == model::Attention::Kind::latent || divides(ranks, attention.kv_heads))
      continue;
    return attention.kv_heads;
  }
  return std::nullopt;
}

bool uneven_stages(const plan::TrainingConfig& config) {
  if (config.plan.stages.empty() || config.plan.pp == 1) return false;
  const i64 stages = config.plan.pp * config.plan.virtual_stages, layers = config.model.layers();
  return stages > layers ||
         config.plan.stages != plan::split_evenly(layers, stages, config.model.mtp_layers);
}

}  // namespace rankwright::rules
