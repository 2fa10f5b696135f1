// Reads the YAML configs of NeMo-RL (the training of the policy, by Megatron-LM or by FSDP2) and of
// NeMo Automodel. Configs that a file inherits by `defaults` are read if they are beside it.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/recipe_script.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/recipe/nemo_rl_configs.h"
#include "rankwright/import/recipe/pretraining_parts.h"

namespace rankwright::importer {
namespace {

void read_sizes_or_none(ForeignReading& r, const YamlNode& node, std::optional<i64>& value) {
  if (!is_off(node)) value = r.fields.whole(node, 1, kMaxDegree);
}

template <std::optional<i64> Draft::*member>
void degree(ForeignReading& r, const YamlNode& node) {
  read_sizes_or_none(r, node, r.draft.*member);
}

constexpr ForeignKey kNemoRlKeys[] = {
    {"policy.dtensor_cfg.lora_cfg.enabled", ""},
    {"policy.megatron_cfg.peft.enabled", ""},
    {"policy.model_name", "model", read_named_model},
    {"cluster.num_nodes", "node_shape"},
    {"cluster.gpus_per_node", "node_shape"},
    {"policy.train_global_batch_size", "job.global_batch",
     whole<&Draft::global_batch, plan::kMaxBatch>},
    {"policy.train_micro_batch_size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"policy.max_total_sequence_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"policy.precision", "job.param_dtype", read_trainer_dtype},
    {"policy.sequence_packing.enabled", "parallelism.micro_batch"},
    {"policy.dynamic_batching.enabled", "parallelism.micro_batch"},
    {"policy.dtensor_cfg", "parallelism"},
    {"policy.megatron_cfg.use_linear_ce_fusion_loss", "software.loss"},
    {"policy.megatron_cfg.use_fused_linear_logprobs", "software.loss"},
    {"policy.dtensor_v2_cfg", "parallelism"},
    {"policy.megatron_cfg", "parallelism"},
    {"policy.optimizer.name", "job.optimizer", read_optimizer_class},
    {"policy.optimizer.kwargs.exp_avg_dtype", "job.moment_dtype", read_moment_dtype},
    {"dpo", "job.method"},
    {"grpo", "job.method"},
    {"distillation", "", nullptr, false, "only the trained model is counted, without its teacher"},
};

void read_engine_fp8(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.matmul = plan::Matmul::fp8;
}

/// FSDP reduces gradients in every micro-batch instead of keeping them whole until the last one
/// (nemo_automodel's get_sync_ctx; deferred by default).
void read_deferred_sync(ForeignReading& r, const YamlNode& node) {
  if (is_off(node)) r.draft.sync_each_batch = true;
}

// Keys of the engine that trains, under policy.megatron_cfg or policy.dtensor_cfg.
constexpr ForeignKey kNemoEngineKeys[] = {
    {"peft", "job.lora_rank"},
    {"lora_cfg", "job.lora_rank"},
    {"tensor_model_parallel_size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
    {"tensor_parallel_size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
    {"pipeline_model_parallel_size", "parallelism.pp_size", whole<&Draft::pp, kMaxDegree>},
    {"context_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"expert_model_parallel_size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>},
    {"expert_parallel_size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>},
    {"expert_tensor_parallel_size", "parallelism.etp_size", whole<&Draft::etp, kMaxDegree>},
    {"sequence_parallel", "parallelism.sequence_parallel", python_flag<&Draft::sequence_parallel>},
    {"cpu_offload", "parallelism.offload.parameters", read_offload_all},
    {"defer_fsdp_grad_sync", "software.sync_each_batch", read_deferred_sync},
    {"distributed_data_parallel_config.overlap_grad_reduce", "parallelism.overlap.grad_reduce",
     python_flag<&Draft::overlap_grad>},
    {"distributed_data_parallel_config.overlap_param_gather", "parallelism.overlap.param_gather",
     python_flag<&Draft::overlap_param>},
    {"fp8_cfg.enabled", "job.matmul", read_engine_fp8},
    {"optimizer.optimizer_cpu_offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"moe_token_dispatcher_type", "parallelism.dispatcher", read_dispatcher_type},
    {"fine_grained_activation_offloading", "", nullptr, false,
     "activations are counted on the GPU"},
    {"num_layers_in_first_pipeline_stage", "parallelism.stages"},
    {"num_layers_in_last_pipeline_stage", "parallelism.stages"},
};

/// Reads the settings of the engine that trains.
void read_nemo_engine(ForeignReading& outer, PlanFile& plan) {
  const bool megatron = is_on_at(outer.root, "policy.megatron_cfg.enabled");
  const bool second = is_on_at(outer.root, "policy.dtensor_v2_cfg.enabled");
  const YamlNode* const engine = find_path(outer.root, megatron ? "policy.megatron_cfg"
                                                       : second ? "policy.dtensor_v2_cfg"
                                                                : "policy.dtensor_cfg");
  Draft& d = outer.draft;
  d.order = mesh::kDefaultOrder;
  if (megatron || !d.optimizer) d.optimizer = plan::Optimizer::adam;
  d.recompute = plan::Recompute::none;
  d.zero = megatron ? 1 : 3;
  d.framework = find_software(megatron ? rules::Target::megatron : rules::Target::accelerate);
  if (!d.param_dtype) d.param_dtype = plan::Dtype::bf16;
  d.grad_dtype = plan::Dtype::fp32;
  if (engine == nullptr || engine->kind != YamlNode::Kind::map) return;
  ForeignReading r{outer.fields, d, *engine, outer.files};
  read_foreign(r, kNemoEngineKeys, plan);
  for (const char* const adapters : {"peft", "lora_cfg"})
    if (is_on_at(*engine, fmt::format("{}.enabled", adapters))) {
      read_lora_map(r, adapters, "dim");
      if (!megatron) d.base_dtype = plan::BaseDtype::fp32;  // FSDP2 shards them so
    }
  const YamlNode* const granularity = find_path(*engine, "recompute_granularity");
  if (is_on_at(*engine, "activation_checkpointing"))
    d.recompute = megatron && granularity != nullptr && granularity->scalar == "selective"
                      ? plan::Recompute::selective
                      : plan::Recompute::full;
  if (!d.sequence_parallel || d.tp.value_or(1) == 1) d.sequence_parallel = false;
  if (!megatron) {
    if (!second) d.sync_each_batch = true;  // its worker never turns the reduction off
    if (d.cp > 1) d.cp_comm = plan::CpComm::p2p;
    d.pp = 1;
    return;
  }
  read_end_stages(r);
  if (!d.etp) d.etp = 1;
  const YamlNode* const distributed = find_path(*engine, "optimizer.use_distributed_optimizer");
  if (distributed != nullptr && is_off(*distributed)) d.zero = 0;
  if (!is_on_at(*engine, "distributed_data_parallel_config.grad_reduce_in_fp32"))
    d.grad_dtype = d.param_dtype;
}

/// The methods by the section that a config has.
struct NemoMethodRow {
  const char* section;
  plan::Method method;
};
constexpr NemoMethodRow kNemoMethods[] = {
    {"sft", plan::Method::lm}, {"dpo", plan::Method::dpo}, {"grpo", plan::Method::grpo}};

/// Every loss of NeMo-RL, also that of supervised fine-tuning, reads log-probabilities, which are
/// computed from all logits in fp32 (distributed/model_utils.py) unless they are fused with the
/// output head. Batches of DPO count pairs. The weights of a reference model are in host memory
/// during the update.
void read_nemo_method(ForeignReading& r) {
  Draft& d = r.draft;
  const bool fused = is_on_at(r.root, "policy.megatron_cfg.enabled") &&
                     (is_on_at(r.root, "policy.megatron_cfg.use_linear_ce_fusion_loss") ||
                      is_on_at(r.root, "policy.megatron_cfg.use_fused_linear_logprobs"));
  d.loss = fused ? plan::Loss::fused_linear : plan::Loss::log_probs;
  for (const NemoMethodRow& row : kNemoMethods)
    if (find_path(r.root, row.section) != nullptr) d.method = row.method;
  d.ref_model = false;
  if (d.method == plan::Method::grpo)
    report_left_out(r, *find_path(r.root, "grpo"),
                    "only the update of the policy is estimated, without generation and the "
                    "passes for log-probabilities before it");
  if (d.method != plan::Method::dpo) return;
  count_pairs_twice(d);
  report_left_out(r, *find_path(r.root, "dpo"),
                  "the reference model's forward pass, which runs before the update");
}

/// Generation may have nodes or GPUs of its own.
void subtract_generation(ForeignReading& r) {
  const YamlNode* const shared = find_path(r.root, "policy.generation.colocated.enabled");
  if (shared == nullptr || !is_off(*shared) || !r.draft.shape) return;
  NodeShape& shape = *r.draft.shape;
  const std::optional<i64> nodes =
      read_whole_at(r, "policy.generation.colocated.resources.num_nodes", 1, kMaxDegree);
  const std::optional<i64> gpus =
      read_whole_at(r, "policy.generation.colocated.resources.gpus_per_node", 1, kMaxDegree);
  if (nodes && *nodes < shape.nodes)
    shape.nodes -= *nodes;
  else if (gpus && *gpus < shape.gpus)
    shape.gpus -= *gpus;
  else if (!nodes && !gpus)
    report_left_out(r, *shared,
                    "generation has ranks of its own, whose number is not stated: all are counted "
                    "as those of the training");
}

/// The microbatch of packed sequences is one of the longest, in the estimate.
void read_packing(ForeignReading& r, PlanFile& plan) {
  for (const char* const name : {"sequence_packing", "dynamic_batching"}) {
    const std::string prefix = fmt::format("policy.{}.", name);
    if (!is_on_at(r.root, prefix + "enabled") || !r.draft.sequence) continue;
    const i64 tokens =
        read_whole_at(r, prefix + "train_mb_tokens", 1, kMaxSequence)
            .value_or(product({r.draft.micro_batch.value_or(1), *r.draft.sequence}).value_or(1));
    return fill_packed_micro_batch(r, tokens, *find_path(r.root, prefix + "enabled"), plan);
  }
}

void read_adapters(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) read_lora_map(r, "peft", "dim");
}

void read_8bit_weights(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.base_dtype = plan::BaseDtype::int8;
}

void read_transformer_engine_fp8(ForeignReading& r, const YamlNode& node) {
  const YamlNode* const recipe = node.find("recipe");
  r.draft.matmul = recipe != nullptr && recipe->scalar.find("mxfp8") != std::string::npos
                       ? plan::Matmul::mxfp8
                       : plan::Matmul::fp8;
}

void read_offload_policy(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) read_offload_all(r, node);
}

/// Reads the shapes that Automodel's builder of GPT-2 is given, with its defaults
/// (nemo_automodel/components/models/gpt2.py).
void read_gpt2_builder(ForeignReading& r) {
  const auto size = [&](const char* path, i64 usual) {
    return read_whole_at(r, path, 1, kMaxCount).value_or(usual);
  };
  model::Shapes& s = r.shapes;
  s.vocab = size("model.vocab_size", 50257);
  s.hidden = size("model.n_embd", 768);
  s.layers = size("model.n_layer", 12);
  s.heads = size("model.n_head", 12);
  s.positions = size("model.n_ctx", size("model.n_positions", 2048));
  for (const char* const other : {"model.mlp_type", "model.norm_type", "model.use_rope"})
    if (const YamlNode* const node = find_path(r.root, other); node != nullptr && !is_off(*node))
      report_left_out(
          r, *node,
          fmt::format("{} {}: estimated as GPT-2's layers", other, make_excerpt(node->scalar)));
  build_shapes(r, "gpt2", "model._target_");
}

/// Encoders for retrieval have no output head, and a batch of several passages per query.
void read_model_class(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.ends_with(".build_gpt2_model")) return read_gpt2_builder(r);
  for (const std::string_view other : {"BiEncoder", "CrossEncoder", "SequenceClassification"})
    if (node.scalar.find(other) != std::string::npos)
      report_left_out(r, node, "model: estimated as a language model, with its output head");
}

/// The losses of Automodel by the name of their class, which keep different copies of the logits.
constexpr std::pair<std::string_view, plan::Loss> kAutomodelLosses[] = {
    {"MaskedCrossEntropy", plan::Loss::eager},
    {"FusedLinearCrossEntropy", plan::Loss::fused_linear},
    {"TEParallelCrossEntropy", plan::Loss::fused},
    {"ChunkedCrossEntropy", plan::Loss::fused},
};

void read_automodel_loss(ForeignReading& r, const YamlNode& node) {
  const YamlNode* const wide = find_path(r.root, "loss_fn.fp32_upcast");
  if (wide != nullptr && is_off(*wide))
    return report_left_out(r, *wide, "loss_fn.fp32_upcast: the loss is estimated in fp32");
  for (const auto& [name, loss] : kAutomodelLosses)
    if (node.scalar.ends_with(name)) {
      r.draft.loss = loss;
      return;
    }
  report_left_out(r, node, "loss_fn: estimated as a cross-entropy of next tokens");
}

/// Reads how tokens are sent to experts.
void read_automodel_dispatcher(ForeignReading& r, const YamlNode& node) {
  constexpr std::pair<std::string_view, plan::Dispatcher> kDispatchers[] = {
      {"deepep", plan::Dispatcher::deepep},
      {"hybridep", plan::Dispatcher::hybridep},
      {"uccl_ep", plan::Dispatcher::uccl}};
  for (const auto& [name, dispatcher] : kDispatchers)
    if (node.scalar == name) {
      r.draft.dispatcher = dispatcher;
      return;
    }
  if (r.draft.ep > 1)
    report_left_out(r, node,
                    fmt::format("model.backend.dispatcher {}: estimated as all-to-all",
                                make_excerpt(node.scalar)));
}

/// Reads the matmuls of experts: `torch` runs them one after another.
void read_automodel_experts(ForeignReading& r, const YamlNode& node) {
  r.draft.expert_kernel =
      node.scalar == "torch" ? plan::ExpertKernel::sequential : plan::ExpertKernel::grouped;
}

void read_automodel_attention(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "eager") r.draft.attention = plan::AttentionKernel::unfused;
}

/// FSDP gathers parameters, and multiplies, in the policy's format: bf16 unless stated.
void read_policy_dtype(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("32") != std::string::npos)
    report_left_out(r, node, "distributed.mp_policy.param_dtype: matmuls are estimated in 16 bits");
}

/// Reads a model that is made from a config: the name of one, a named one with other shapes, or all
/// of its keys.
void read_automodel_config(ForeignReading& r, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::scalar) return read_named_model(r, node);
  if (node.kind != YamlNode::Kind::map) return;
  if (node.find("pretrained_model_name_or_path") != nullptr)
    read_config_overrides(r, node);
  else
    read_stated_config(r, node);
}

constexpr ForeignKey kAutomodelKeys[] = {
    {"model._target_", "", read_model_class},
    {"model.backend.te_fp8", "job.matmul", read_transformer_engine_fp8},
    {"fp8.enabled", "job.matmul", read_engine_fp8},
    {"optimizer.exp_avg_dtype", "job.moment_dtype", read_moment_dtype},
    {"freeze_config", "", nullptr, false, kAllTrained},
    {"optimizer.store_param_remainders", "", nullptr, false,
     "fp32 copies of the weights are counted in full"},
    {"distributed.offload_policy", "parallelism.offload.parameters", read_offload_policy},
    {"packed_sequence.pack_size", "job.sequence"},
    {"distributed.moe.reshard_after_forward", "parallelism.zero_stage"},
    {"dataset.max_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"dataloader.collate_fn.rerank_max_length", "job.sequence",
     whole<&Draft::sequence, kMaxSequence>},
    {"dataloader.collate_fn.p_max_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"dllm", "", nullptr, false, "estimated as next-token prediction"},
    {"dflash", "", nullptr, false, "estimated without the model that drafts are made for"},
    {"processor.p_max_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"teacher_model", "", nullptr, false, "only the trained model is counted, without its teacher"},
    {"teacher_distributed", "", nullptr, false, "the teacher's ranks are beside those of the plan"},
    {"qat.enabled", "", nullptr, false, "estimated without the rounding of weights"},
    {"distributed.mp_policy.param_dtype", "", read_policy_dtype},
    {"peft.moe_rank_scaling", "", nullptr, false, "adapters of experts have the whole rank"},
    {"peft.exclude_modules", "", nullptr, false, "adapters are counted on these layers, too"},
    {"peft", "job.lora_rank", read_adapters},
    {"optimizer._target_", "job.optimizer", read_optimizer_class},
    {"quantization.load_in_4bit", "job.base_dtype", read_quantized<plan::BaseDtype::nf4>},
    {"quantization.load_in_8bit", "job.base_dtype", read_8bit_weights},
    {"model.pretrained_model_name_or_path", "model", read_named_model},
    {"model.config.pretrained_model_name_or_path", "model", read_named_model},
    {"model.config", "model", read_automodel_config},
    {"distributed.defer_fsdp_grad_sync", "software.sync_each_batch", read_deferred_sync},
    {"model.torch_dtype", "job.param_dtype"},
    {"slurm.nodes", "node_shape"},
    {"slurm.ntasks_per_node", "node_shape"},
    {"benchmark.num_nodes", "node_shape"},
    {"distributed.tp_size", "parallelism.tp_size", degree<&Draft::tp>},
    {"distributed.cp_size", "parallelism.cp_size", degree<&Draft::cp>},
    {"distributed.pp_size", "parallelism.pp_size", degree<&Draft::pp>},
    {"distributed.ep_size", "parallelism.ep_size", degree<&Draft::ep>},
    {"distributed.dp_size", "parallelism.dp_size", degree<&Draft::dp>},
    {"model.backend.dispatcher", "parallelism.dispatcher", read_automodel_dispatcher},
    {"model.backend.experts", "software.expert_kernel", read_automodel_experts},
    {"model.backend.attn", "software.attention", read_automodel_attention},
    {"loss_fn._target_", "software.loss", read_automodel_loss},
    {"loss_fn.fp32_upcast", "software.loss"},
    {"optimizer.master_weights", "job.master_dtype"},
    {"distributed.dp_replicate_size", "parallelism.shard_size", degree<&Draft::replicas>},
    {"distributed.sequence_parallel", "parallelism.sequence_parallel",
     python_flag<&Draft::sequence_parallel>},
    {"distributed.activation_checkpointing", "parallelism.recompute", read_full_recompute},
    {"distributed.fsdp2_backward_prefetch_depth", ""},
    {"distributed.strategy", "parallelism.zero_stage"},
    {"distributed._target_", "parallelism.zero_stage"},
    {"step_scheduler.global_batch_size", "job.global_batch",
     whole<&Draft::global_batch, plan::kMaxBatch>},
    {"step_scheduler.local_batch_size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"dataset.seq_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"dataset.seq_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"packed_sequence.packed_sequence_size", "job.sequence"},
    {"dataloader.collate_fn.max_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"distributed.enable_compile", "software.compile", python_flag<&Draft::compile>},
    {"compile.enabled", "software.compile", python_flag<&Draft::compile>},
    {"distributed.pipeline.pp_schedule", "parallelism.schedule"},
    {"autopipeline.pp_schedule", "parallelism.schedule"},
    {"distributed.pipeline.layers_per_stage", "parallelism.virtual_stages"},
    {"autopipeline.layers_per_stage", "parallelism.virtual_stages"},
    {"distributed.pipeline.pp_microbatch_size", "parallelism.micro_batch"},
    {"autopipeline.pp_microbatch_size", "parallelism.micro_batch"},
};

/// The stages of a schedule with several per rank follow from the layers of one.
void read_automodel_pipeline(ForeignReading& r, const std::string& prefix) {
  Draft& d = r.draft;
  const YamlNode* const schedule = find_path(r.root, prefix + "pp_schedule");
  const std::optional<i64> layers =
      read_whole_at(r, prefix + "layers_per_stage", 1, model::kMaxLayers);
  if (!(d.pp > 1) || schedule == nullptr) return;
  const std::string word = lower(schedule->scalar.substr(0, kLongestLabel));
  if (word == "gpipe") d.schedule = pipeline::Schedule::gpipe;
  if (word == "1f1b" || word == "gpipe") return;
  const i64 stages = layers && d.model ? (d.model->layers() + *layers - 1) / *layers : 0;
  if (word == "interleaved1f1b" && stages > 0 && divides(*d.pp, stages))
    d.virtual_stages = stages / *d.pp;
  else
    report_left_out(r, *schedule,
                    fmt::format("pp_schedule {}: estimated as 1F1B with one stage per rank",
                                make_excerpt(schedule->scalar)));
}

/// A pass through the pipeline has the micro-batches of one local batch
/// (nemo_automodel/recipes/llm/train_ft.py); the estimate has one pass.
void report_pipeline_passes(ForeignReading& r, PlanFile& plan) {
  const Draft& d = r.draft;
  const YamlNode* const node = find_path(r.root, "step_scheduler.local_batch_size");
  const std::optional<i64> local =
      read_whole_at(r, "step_scheduler.local_batch_size", 1, kMaxMicroBatch);
  const std::optional<i64> rest = product({d.tp.value_or(1), *d.pp, d.cp.value_or(1)});
  const i64 world = d.shape ? d.shape->nodes * d.shape->gpus : plan.usual_world.value_or(0);
  if (!local || !rest || !d.global_batch || !d.micro_batch) return;
  const i64 ranks = std::max<i64>(1, world / *rest);
  const i64 passes = *d.global_batch / ranks / *local;
  if (passes > 1)
    report_left_out(r, *node,
                    fmt::format("step_scheduler.local_batch_size: {} passes through the pipeline "
                                "with {} each, which are estimated as one",
                                count(passes),
                                plural(std::max<i64>(1, *local / *d.micro_batch), "micro-batch",
                                       "micro-batches")));
}

/// Weights in bf16 have states in bf16, unless the optimizer keeps wider ones: torch.optim never
/// does, Transformer Engine's has fp32 moments, and fp32 weights if told to.
void fill_automodel_states(ForeignReading& r) {
  Draft& d = r.draft;
  if (d.lora_rank || d.grad_dtype != plan::Dtype::bf16) return;
  const YamlNode* const named = find_path(r.root, "optimizer._target_");
  const bool torch = named == nullptr || named->scalar.starts_with("torch.");
  const bool wide = is_on_at(r.root, "optimizer.master_weights") ||
                    find_path(r.root, "optimizer.master_weight_bits") != nullptr;
  if (!wide) d.master_dtype = plan::Dtype::bf16;
  if (torch) d.moment_dtype = plan::Dtype::bf16;
}

void fill_automodel(ForeignReading& r) {
  Draft& d = r.draft;
  const YamlNode* const strategy = find_path(r.root, "distributed.strategy");
  const YamlNode* const manager = find_path(r.root, "distributed._target_");
  const bool replicated = (strategy != nullptr && strategy->scalar == "ddp") ||
                          (manager != nullptr && manager->scalar.find("DDP") != std::string::npos);
  // Layers that are not resharded keep their weights until the backward pass.
  const YamlNode* const reshard = find_path(r.root, "distributed.moe.reshard_after_forward");
  d.zero = replicated ? 0 : reshard != nullptr && is_off(*reshard) ? 2 : 3;
  if (d.zero == 0) d.replicas.reset();
  const std::optional<i64> packed =
      read_whole_at(r, "packed_sequence.packed_sequence_size", 0, kMaxSequence);
  if (packed > 0) d.sequence = packed;
  if (const std::optional<i64> pack =
          read_whole_at(r, "packed_sequence.pack_size", 0, kMaxSequence);
      pack > 0)
    d.sequence = pack;
  // A pipeline splits the local batch into microbatches.
  for (const char* const path :
       {"distributed.pipeline.pp_microbatch_size", "autopipeline.pp_microbatch_size"})
    if (const std::optional<i64> micro = read_whole_at(r, path, 1, kMaxMicroBatch);
        micro && d.pp > 1)
      d.micro_batch = micro;
  for (const char* const prefix : {"distributed.pipeline.", "autopipeline."})
    read_automodel_pipeline(r, prefix);
  const YamlNode* const dtype = find_path(r.root, "model.torch_dtype");
  d.param_dtype = plan::Dtype::bf16;  // from_pretrained's default here
  if (d.model && d.model->mtp_layers > 0) d.model->mtp_layers = 0;  // transformers has none
  if (dtype != nullptr && d.lora_rank && dtype->scalar.find("32") != std::string::npos)
    d.base_dtype = plan::BaseDtype::fp32;
  if (dtype != nullptr && dtype->scalar.find("32") != std::string::npos)
    d.grad_dtype = plan::Dtype::fp32;
  else
    d.grad_dtype = plan::Dtype::bf16;
  fill_automodel_states(r);
  if (!d.optimizer) d.optimizer = plan::Optimizer::adam;
  if (!d.recompute) d.recompute = plan::Recompute::none;
  if (!d.sequence_parallel || d.tp.value_or(1) == 1) d.sequence_parallel = false;
  if (d.cp > 1) d.cp_comm = plan::CpComm::p2p;
  if (d.ep > 1) d.etp = 1;
  d.order = mesh::kDefaultOrder;
  d.framework = find_software(rules::Target::accelerate);
}

}  // namespace

namespace {

/// Returns the config that a launch script of NeMo-RL names, under the script's overrides of it.
YamlNode read_nemo_rl_script(PlanFile& plan, const FileReader& files, ScriptFlags& flags) {
  const ShellInput input = make_script_input(plan, files);
  flags = read_overrides(plan.text, input);
  forget_usual_folders(flags);
  YamlNode root;
  root.kind = YamlNode::Kind::map;
  const std::string_view usual = find_usual_config(flags.program);
  if (flags.config.scalar.empty() && !usual.empty()) {
    if (!flags.map.entries.empty()) flags.config = flags.map.entries.front().key;
    flags.config.scalar = fmt::format("examples/configs/{}", usual);
  }
  std::string_view source;
  const FileReader with_own = with_nemo_rl_configs(files, source);
  const auto place = location(flags.config, plan.name);
  if (!flags.config.scalar.empty() && !inherit_file(root, flags.config, plan.name, files) &&
      !inherit_file(root, flags.config, plan.name, with_own))
    plan.findings.push_back(
        make_assumption(fmt::format("the settings in {}: the file cannot be read",
                                    make_path_excerpt(flags.config.scalar)),
                        "put the file beside the script", place));
  inherit_defaults(root, beside(plan.name, flags.config.scalar), with_own, plan.findings);
  if (!source.empty())
    plan.findings.push_back(
        make_assumption(fmt::format("the settings in {} are those of NeMo-RL {}",
                                    make_path_excerpt(flags.config.scalar), source),
                        "put the file beside the script", place));
  for (const YamlEntry& entry : flags.map.entries) set_path(root, entry.key.scalar, entry.value);
  return root;
}

}  // namespace

bool claims_nemo_rl(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (is_script_file(file))
    return has("examples/run_") && (has("policy.") || has("cluster.num_nodes") || has("grpo."));
  const bool inherits = (text.starts_with("defaults:") || has("\ndefaults:")) && has(".yaml");
  const auto starts = [&](std::string_view key) {
    return text.starts_with(key) || has("\n" + std::string(key));
  };
  const bool ours = has("dtensor_cfg:") || has("megatron_cfg:") || has("train_global_batch_size:");
  return is_yaml_file(file) && ((starts("policy:") && (ours || inherits)) ||
                                (inherits && (starts("grpo:") || starts("dpo:") || starts("sft:") ||
                                              starts("cluster:"))));
}

void read_nemo_rl(PlanFile& plan, const FileReader& files) {
  const bool script = is_script_file(plan.name);
  ScriptFlags flags;
  Result<YamlNode> root = script ? read_nemo_rl_script(plan, files, flags)
                                 : read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  std::string_view source;
  if (!script)
    inherit_defaults(*root, plan.name, with_nemo_rl_configs(files, source), plan.findings);
  if (!source.empty())
    plan.findings.push_back(make_assumption(
        fmt::format("the configs that this file inherits are those of NeMo-RL {}", source),
        "put them beside this file", {.file = plan.name}));
  resolve_references(*root);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  reading.known = &KnownKeys::find("nemo-rl");
  reading.launcher_keys = flags.of_launcher;
  for (const ForeignKey& row : kNemoEngineKeys)
    for (const char* const engine : {"megatron_cfg", "dtensor_cfg"})
      reading.launcher_keys.push_back(fmt::format("policy.{}.{}", engine, row.path));
  reading.launcher_keys.insert(reading.launcher_keys.end(), {"nodes", "gpus-per-node"});
  read_foreign(reading, kNemoRlKeys, plan);
  read_node_shape(reading, "cluster.num_nodes", "cluster.gpus_per_node", 1, std::nullopt);
  subtract_generation(reading);
  read_nemo_engine(reading, plan);
  read_nemo_method(reading);
  read_packing(reading, plan);
  if (script) report_script_values(reading, flags, kNemoRlKeys, plan);
  plan.ignored_keys.clear();  // data, generation and logging: most of such a file
  plan.keys = fields.keys();
}

bool claims_automodel(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  return is_yaml_file(file) && has("nemo_automodel") && has("step_scheduler:");
}

void read_automodel(PlanFile& plan, const FileReader& files) {
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  resolve_references(*root);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  if (const YamlNode* const flow = find_path(*root, "flow_matching"))
    return fields.report(*flow, {.code = "RW0603",
                                 .message = "unrecognized file format",
                                 .detail = "this config trains a diffusion model: language models "
                                           "are estimated"});
  reading.known = &KnownKeys::find("automodel");
  read_foreign(reading, kAutomodelKeys, plan);
  fill_automodel(reading);
  read_node_shape(reading, "slurm.nodes", "slurm.ntasks_per_node", 1, std::nullopt);
  fill_usual_ranks(reading, plan, "benchmark.num_nodes");
  if (plan.draft.pp > 1) report_pipeline_passes(reading, plan);
  plan.ignored_keys.clear();  // data, checkpoints and logging
  plan.answered.emplace_back(
      "RW0406");  // its pipeline reduces gradients once, as torchtitan's does
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
