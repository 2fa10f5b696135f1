#include "rankwright/import/plan/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"

namespace rankwright::importer {
namespace {

/// Returns the framework that a target runs on, or the first one if no target with a framework is
/// stated.
const plan::Software& find_usual_framework(std::optional<rules::Target> target) {
  const std::span<const plan::Software> all = plan::frameworks();
  if (target && *target != rules::Target::any)
    for (const plan::Software& framework : all)
      if (framework.name == row(*target).software) return framework;
  return all.front();
}

/// Returns the framework in a release. If it has no such release, it is only noted: a rule reports
/// it.
plan::Software in_release(plan::Software framework, std::optional<std::string_view> release) {
  if (!release) return framework;
  if (std::optional<plan::Software> found = find_release(framework, *release)) return *found;
  framework.release = *release;
  return framework;
}

/// Fills one TrainingConfig and records every value that the draft does not state.
class DraftResolver {
 public:
  explicit DraftResolver(const Draft& draft) : draft_(draft) {}

  plan::TrainingConfig resolve() {
    model();
    if (draft_.frozen) freeze(config_.model, *draft_.frozen);
    degrees();
    cluster();
    layout();
    placement();
    job();
    software();
    return std::move(config_);
  }

 private:
  void assume(std::string_view key, std::string value, std::string why) {
    config_.assumed.push_back({std::string(key), std::move(value), std::move(why)});
  }

  /// Returns the stated value, or records and returns `fallback`. `text` is how the fallback is
  /// typed.
  template <class T>
  T or_assume(const std::optional<T>& stated, std::string_view key, T fallback, std::string text,
              std::string why) {
    if (stated) return *stated;
    assume(key, std::move(text), std::move(why));
    return fallback;
  }

  i64 count_or(const std::optional<i64>& stated, std::string_view key, i64 fallback,
               std::string why) {
    return or_assume(stated, key, fallback, std::to_string(fallback), std::move(why));
  }

  bool flag_or(const std::optional<bool>& stated, std::string_view key, bool fallback,
               std::string why) {
    return or_assume(stated, key, fallback, fallback ? "true" : "false", std::move(why));
  }

  void model();
  void degrees();
  void cluster();
  void layout();
  void placement();
  void job();
  void software();
  void derive_dp();
  std::optional<i64> dp_from_batch() const;
  std::optional<i64> micro_batch_from_batch() const;
  i64 shard_size() const;

  const Draft& draft_;
  plan::TrainingConfig config_{};
};

void DraftResolver::model() {
  if (draft_.model) {
    config_.model = *draft_.model;
    return;
  }
  const Result<model::Model> reference = catalog::find_model(draft_.reference_model);
  RW_CHECK(reference.has_value());
  config_.model = *reference;
  config_.reference_model = true;
  assume("model", draft_.reference_model, "for the cost per layer only");
}

// Degrees default to 1, except dp, which is what the others leave of the world, as in Megatron-LM.
void DraftResolver::degrees() {
  plan::Plan& plan = config_.plan;
  plan.tp = draft_.tp.value_or(1);
  plan.cp = draft_.cp.value_or(1);
  plan.pp = draft_.pp.value_or(1);
  plan.ep = draft_.ep.value_or(1);
  // A dense model has no experts to split: etp follows tp, whatever the file states.
  const bool sparse = config_.model.sparse();
  const i64 usual = plan.ep > 1 ? 1 : plan.tp;
  plan.etp = sparse ? draft_.etp.value_or(usual) : usual;
  if (!draft_.etp && sparse && plan.tp > 1)
    assume("parallelism.etp_size", std::to_string(usual),
           plan.ep > 1 ? "experts are split by EP only" : "experts are split like dense layers");

  std::optional<i64> stated = draft_.world;
  if (!stated && draft_.shape) stated = draft_.shape->nodes * draft_.shape->gpus;
  if (!stated && draft_.cluster && !draft_.dp) stated = draft_.cluster->devices();
  config_.world = stated.value_or(0);
  derive_dp();
  if (!stated)  // every degree is stated, or absent and 1
    config_.world = product({plan.tp, plan.cp, plan.dp, plan.pp}).value_or(kMaxCount);
}

void DraftResolver::derive_dp() {
  plan::Plan& plan = config_.plan;
  if (draft_.dp) {
    plan.dp = *draft_.dp;
    return;
  }
  const std::optional<i64> model_ranks = product({plan.tp, plan.cp, plan.pp});
  plan.dp = 1;
  if (config_.world == 0) {
    if (draft_.replicas) plan.dp = *draft_.replicas;  // with one shard each
    const std::optional<i64> dp = dp_from_batch();
    if (!dp) return;
    plan.dp = *dp;
    assume("parallelism.dp_size", std::to_string(*dp), "the rest of the batch");
    return;
  }
  if (!model_ranks || !divides(*model_ranks, config_.world)) return;
  plan.dp = config_.world / *model_ranks;
  assume("parallelism.dp_size", std::to_string(plan.dp), "the rest of the world size");
}

/// Solves global batch = micro-batch x accumulation x dp for dp, if the other three are stated.
std::optional<i64> DraftResolver::dp_from_batch() const {
  if (!draft_.global_batch || !draft_.micro_batch || !draft_.accumulation) return std::nullopt;
  const std::optional<i64> one = product({*draft_.micro_batch, *draft_.accumulation});
  if (!one || !divides(*one, *draft_.global_batch)) return std::nullopt;
  const i64 dp = *draft_.global_batch / *one;
  if (dp > kMaxDegree) return std::nullopt;
  return dp;
}

std::optional<i64> DraftResolver::micro_batch_from_batch() const {
  if (!draft_.global_batch || draft_.micro_batch || !draft_.accumulation) return std::nullopt;
  const std::optional<i64> one = product({*draft_.accumulation, config_.plan.dp});
  if (!one || !divides(*one, *draft_.global_batch)) return std::nullopt;
  const i64 share = *draft_.global_batch / *one;
  if (share > kMaxMicroBatch) return std::nullopt;
  return share;
}

/// If the replicas do not divide the data ranks, the format's reader reports it.
i64 DraftResolver::shard_size() const {
  if (draft_.shard_size) return *draft_.shard_size;
  const i64 replicas = draft_.replicas.value_or(1);
  const std::optional<i64> ranks = product({config_.plan.dp, config_.plan.cp});
  return replicas > 1 && ranks && divides(replicas, *ranks) ? *ranks / replicas : 0;
}

void DraftResolver::cluster() {
  if (draft_.cluster) {
    config_.cluster = *draft_.cluster;
    return;
  }
  const Result<cluster::Cluster> reference = catalog::find_cluster(kReferenceSystem);
  RW_CHECK(reference.has_value());
  config_.cluster = *reference;
  std::vector<cluster::Level>& levels = config_.cluster.levels;
  const i64 unit = levels.front().arity;
  // A world larger than any cluster is clamped; a rule reports the missing devices.
  const i64 world = std::min(config_.world, cluster::kMaxDevices);
  const i64 host = std::min(draft_.node_gpus.value_or(unit), world);
  const NodeShape shape =
      draft_.shape.value_or(NodeShape{.nodes = ceil_div(world, host), .gpus = host});
  levels.front().arity = shape.gpus;
  levels.back().arity = shape.nodes;
  config_.cluster.host_devices = shape.gpus;
  config_.cluster.name = fmt::format("{} x {}", kReferenceSystem, shape.nodes);
  assume("cluster", config_.cluster.name,
         shape.gpus == unit ? "" : fmt::format("with {} GPUs per node", shape.gpus));
}

void DraftResolver::layout() {
  plan::Plan& plan = config_.plan;
  plan.order = or_assume(draft_.order, "parallelism.order", mesh::kDefaultOrder,
                         show(mesh::kDefaultOrder), "Megatron-LM's default");
  plan.zero =
      or_assume(draft_.zero, "parallelism.zero_stage", 0, "0", "unsharded data parallelism");
  plan.shard_size = shard_size();
  plan.bucket_size = draft_.bucket_size.value_or(0);
  const plan::Method method = draft_.method.value_or(plan::Method::lm);
  plan.micro_batch = count_or(draft_.micro_batch ? draft_.micro_batch : micro_batch_from_batch(),
                              "parallelism.micro_batch", row(method).sequences, "");
  plan.virtual_stages = draft_.virtual_stages.value_or(1);
  plan.microbatch_group = draft_.microbatch_group.value_or(0);
  plan.cp_comm = draft_.cp_comm.value_or(plan::CpComm::p2p);
  if (draft_.stages) plan.stages = *draft_.stages;
  if (draft_.stage_layers)
    plan.stages = plan::make_listed_stages(*draft_.stage_layers, config_.model.mtp_layers);
  plan.recompute =
      or_assume(draft_.recompute, "parallelism.recompute", plan::Recompute::none, "none", "");
  plan.recompute_layers = draft_.recompute_layers.value_or(0);
  plan.modules = draft_.recompute_modules.value_or(plan::RecomputeModules{});
  plan.sequence_parallel =
      plan.tp == 1 ? draft_.sequence_parallel.value_or(false)
                   : flag_or(draft_.sequence_parallel, "parallelism.sequence_parallel", true,
                             "it saves activation memory for two more gathers per layer");
  const pipeline::Schedule usual = pipeline::default_schedule(plan.virtual_stages);
  plan.schedule = plan.pp == 1 ? draft_.schedule.value_or(usual)
                               : or_assume(draft_.schedule, "parallelism.schedule", usual,
                                           std::string(name(usual)), "");
  plan.overlap = {.grad_reduce = draft_.overlap_grad.value_or(true),
                  .param_gather = draft_.overlap_param.value_or(plan.zero >= 1),
                  .tp = draft_.overlap_tp.value_or(false),
                  .pp = draft_.overlap_pp.value_or(plan.virtual_stages > 1),
                  .ep = draft_.overlap_ep.value_or(false),
                  .wgrad = draft_.overlap_wgrad.value_or(false)};
  plan.offload = {.optimizer = draft_.offload_optimizer.value_or(0),
                  .parameters = draft_.offload_parameters.value_or(false),
                  .activations = draft_.offload_activations.value_or(false),
                  .nvme = draft_.offload_nvme.value_or(plan::NvmeStates::none),
                  .nvme_path = draft_.nvme_path.value_or("")};
  plan.dispatcher = draft_.dispatcher.value_or(plan::Dispatcher::alltoall);
}

void DraftResolver::software() {
  plan::Software& software = config_.software;
  const plan::Software& usual = find_usual_framework(draft_.target);
  const bool by_target = &usual != &plan::frameworks().front();
  software = or_assume(draft_.framework, "software.framework", usual, std::string(usual.name),
                       by_target ? "as the target" : "");
  software = in_release(std::move(software), draft_.release);
  software.attention = draft_.attention.value_or(software.attention);
  software.launch = draft_.launch.value_or(software.launch);
  software.experts = draft_.expert_kernel.value_or(software.experts);
  software.fused_permute = draft_.fused_permute.value_or(software.fused_permute);
  if (draft_.compile) software.eager_ops = !*draft_.compile;
  if (draft_.sync_each_batch)
    software.accumulation = *draft_.sync_each_batch
                                ? plan::Accumulation::shards
                                : std::max(software.accumulation, plan::Accumulation::trained);
  software.loss =
      draft_.loss.value_or(default_loss(software, draft_.method.value_or(plan::Method::lm)));
  software.tuned = draft_.tuned.value_or(software.tuned);
  if (draft_.target && *draft_.target != rules::Target::any)
    config_.target = row(*draft_.target).name;
}

void DraftResolver::placement() {
  mesh::Placement& placement = config_.plan.placement;
  const i64 host = std::max<i64>(1, config_.cluster.host_devices);
  placement.kind = draft_.placement.value_or(mesh::Placement::Kind::block);
  if (placement.kind == mesh::Placement::Kind::cyclic) {
    placement.host_devices = host;
    placement.hosts = ceil_div(config_.world, host);
  }
  if (draft_.rank_devices) {
    placement.kind = mesh::Placement::Kind::listed;
    placement.devices = *draft_.rank_devices;
  }
  if (draft_.host_order) {
    placement.kind = mesh::Placement::Kind::listed;
    // If hosts and world size disagree, the list stays empty and a rule reports it.
    const std::optional<i64> slots = product({i64(draft_.host_order->size()), host});
    if (slots != config_.world || config_.world > cluster::kMaxDevices) return;
    for (const i64 at : *draft_.host_order)
      for (i64 slot = 0; slot < host; ++slot) placement.devices.push_back(at * host + slot);
  }
}

void DraftResolver::job() {
  plan::Job& job = config_.job;
  const plan::Plan& plan = config_.plan;
  job.sequence = count_or(draft_.sequence, "job.sequence", plan::assume_sequence(config_.model),
                          explain_sequence(config_.model));
  job.doc_length = draft_.doc_length.value_or(0);
  job.loss_tokens = draft_.loss_tokens.value_or(0);
  job.images = draft_.images.value_or(0);
  job.image_tokens = draft_.image_tokens.value_or(0);
  job.method = draft_.method.value_or(plan::Method::lm);
  job.ref_model = draft_.ref_model.value_or(row(job.method).reference);
  const std::optional<i64> accumulated =
      draft_.accumulation ? product({plan.micro_batch, *draft_.accumulation, plan.dp})
                          : std::nullopt;
  const i64 usual_batch = assume_global_batch(config_).value_or(kMaxCount);
  job.global_batch =
      count_or(draft_.global_batch ? draft_.global_batch : accumulated, "job.global_batch",
               usual_batch, explain_batch(usual_batch, job.sequence));
  job.param_dtype = or_assume(draft_.param_dtype, "job.param_dtype", plan::Dtype::bf16, "bf16", "");
  const plan::Software framework = in_release(
      draft_.framework ? *draft_.framework : find_usual_framework(draft_.target), draft_.release);
  job.lora_rank = draft_.lora_rank.value_or(0);
  // Adapters are trained in fp32.
  const plan::Dtype usual =
      job.frozen() ? plan::Dtype::fp32 : default_grad_dtype(framework, job.param_dtype);
  job.grad_dtype = or_assume(draft_.grad_dtype, "job.grad_dtype", usual, std::string(name(usual)),
                             job.frozen() ? "adapters are trained in fp32"
                                          : fmt::format("the default of {}", framework.name));
  job.matmul = draft_.matmul.value_or(plan::Matmul::same);
  job.fp8_swiglu_input = draft_.fp8_swiglu_input.value_or(false);
  job.expert_imbalance = draft_.expert_imbalance.value_or(0);
  job.expert_capacity = draft_.expert_capacity.value_or(0);
  job.optimizer = or_assume(draft_.optimizer, "job.optimizer", plan::Optimizer::adam, "adam", "");
  job.moment_dtype = draft_.moment_dtype.value_or(plan::Dtype::fp32);
  job.master_dtype = draft_.master_dtype.value_or(plan::Dtype::fp32);
  job.lora_modules = draft_.lora_modules.value_or(plan::LoraModules{});
  job.base_dtype = draft_.base_dtype.value_or(plan::BaseDtype::same);
}

}  // namespace

std::string explain_sequence(const model::Model& model) {
  if (model.max_sequence <= plan::assume_sequence(model)) return "";
  return fmt::format("the model supports up to {}", count(model.max_sequence));
}

std::string explain_batch(i64 sequences, i64 tokens) {
  constexpr double kMaxPublished = 16 * 1048576.0;
  const double all = double(sequences) * double(tokens);
  return fmt::format("{} tokens per step{}", format_short_count(all),
                     all > kMaxPublished ? ", more than published runs use" : "");
}

plan::TrainingConfig resolve(const Draft& draft) { return DraftResolver(draft).resolve(); }

}  // namespace rankwright::importer
