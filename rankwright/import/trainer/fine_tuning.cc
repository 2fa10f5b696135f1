// Reads the settings of fine-tuning tools that run Hugging Face's Trainer: the YAML of
// LLaMA-Factory, axolotl and TRL, and scripts (trainer_script.cc), with full fine-tuning, frozen
// layers, LoRA and QLoRA. Other adapters are estimated as LoRA, and reported. A DeepSpeed config
// that the file names is read too.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/trainer/trainer_parts.h"
#include "rankwright/model/architecture.h"

namespace rankwright::importer {
namespace {

/// Weights, gradients and moments in bf16, without a wider copy.
void read_pure_bf16(ForeignReading& r, const YamlNode& node) {
  if (is_off(node)) return;
  r.draft.master_dtype = r.draft.moment_dtype = plan::Dtype::bf16;
}

/// The optimizers of Hugging Face's Trainer, by how their names begin. Paged states are in host
/// memory only if the device is full.
struct TrainerOptimizerRow {
  std::string_view prefix;
  plan::Optimizer optimizer;
  std::optional<plan::Dtype> moments{};  // whatever the format of the weights
};
constexpr TrainerOptimizerRow kTrainerOptimizers[] = {
    {"adamw_torch_8bit", plan::Optimizer::adam_8bit},
    {"adamw_torch", plan::Optimizer::adam},
    {"adamw_hf", plan::Optimizer::adam},
    {"adamw_apex", plan::Optimizer::adam},
    {"paged_adamw_8bit", plan::Optimizer::adam_8bit},
    {"paged_adamw", plan::Optimizer::adam, plan::Dtype::fp32},
    {"adamw_bnb_8bit", plan::Optimizer::adam_8bit},
    {"adamw_8bit", plan::Optimizer::adam_8bit},
    {"lion_32bit", plan::Optimizer::lion, plan::Dtype::fp32},
    {"lion_pytorch", plan::Optimizer::lion},
    {"adafactor", plan::Optimizer::adafactor},
    {"adamw", plan::Optimizer::adam},
    {"muon", plan::Optimizer::muon},
    {"sgd", plan::Optimizer::sgd},
};

void read_trainer_optimizer(ForeignReading& r, const YamlNode& node) {
  for (const TrainerOptimizerRow& row : kTrainerOptimizers)
    if (node.scalar.starts_with(row.prefix)) {
      r.draft.optimizer = row.optimizer;
      if (row.moments) r.draft.moment_dtype = row.moments;
      return;
    }
  report_left_out(
      r, node,
      fmt::format("optimizer {}: estimated with Adam's states", make_excerpt(node.scalar)));
}

/// Reads a switch of a program for Adam with states of 8 bits.
void read_8bit_switch(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.optimizer = plan::Optimizer::adam_8bit;
}

/// LLaMA-Factory's switch for Muon, whatever `optim` says.
void read_muon_switch(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.optimizer = plan::Optimizer::muon;
}

/// Reads axolotl's words besides true and false: "offload" moves the inputs of layers to the host.
void read_trainer_recompute(ForeignReading& r, const YamlNode& node) {
  read_full_recompute(r, node);
  if (node.scalar.starts_with("offload")) r.draft.offload_activations = true;
}

void read_offload_activations(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.offload_activations = true;
}

/// Reads a switch that freezes a part of the model, or trains one part only. With adapters, only
/// these are estimated as trained.
void read_freeze(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node) && !turns_adapters_on(r)) report_left_out(r, node, kAllTrained);
}

/// Reads the switch of MoE-LLaVA that makes experts of a dense model's MLPs.
void read_added_experts(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) report_left_out(r, node, "estimated without the experts that it adds");
}

/// Reads the layers that LISA trains in each step; 0 turns it off.
void read_lisa(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "0") read_freeze(r, node);
}

/// Reads a switch that trains the language model.
void read_trained(ForeignReading& r, const YamlNode& node) {
  if (is_off(node) && !turns_adapters_on(r)) report_left_out(r, node, kAllTrained);
}

/// Reads the parts of LLaVA that are trained: "mm_mlp_adapter,mm_language_model".
void read_tunable_parts(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node) && node.scalar.find("language_model") == std::string::npos)
    report_left_out(r, node, kAllTrained);
}

/// Reads the name of an encoder beside the language model.
void read_encoder(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) report_left_out(r, node, "only the language model is estimated");
}

/// Reads a switch that freezes an encoder or trains it: there is one, whatever it says.
void read_encoder_switch(ForeignReading& r, const YamlNode& node) {
  report_left_out(r, node, "only the language model is estimated");
}

/// Reads the limit of sequences; -1 is the model's own.
void read_length(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "-1") r.draft.sequence = r.fields.whole(node, 1, kMaxSequence);
}

/// Liger and Cut Cross-Entropy compute the output head and the loss in one kernel.
void read_fused_head(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.loss = plan::Loss::fused_linear;
}

/// axolotl's plugin for Cut Cross-Entropy is on unless its own key turns it off.
void read_plugins(ForeignReading& r, const YamlNode& node) {
  for (const YamlNode& item : node.items)
    if (item.scalar.find("CutCrossEntropyPlugin") != std::string::npos)
      r.draft.loss = plan::Loss::fused_linear;
}

void read_cut_cross_entropy(ForeignReading& r, const YamlNode& node) {
  if (is_off(node))
    r.draft.loss.reset();
  else
    r.draft.loss = plan::Loss::fused_linear;
}

void read_attention_kernel(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "eager" || node.scalar == "disabled")
    r.draft.attention = plan::AttentionKernel::unfused;
}

void read_eager_switch(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.attention = plan::AttentionKernel::unfused;
}

void read_compile(ForeignReading& r, const YamlNode& node) { r.draft.compile = !is_off(node); }

void read_sync(ForeignReading& r, const YamlNode& node) { r.draft.sync_each_batch = !is_off(node); }

/// Reads the ranks that exchange heads around attention, as DeepSpeed's Ulysses does.
void read_ulysses(ForeignReading& r, const YamlNode& node) {
  r.draft.cp = r.fields.whole(node, 1, kMaxContext);
  if (r.draft.cp > 1) r.draft.cp_comm = plan::CpComm::a2a;
}

/// Reads the GPUs that DeepSpeed's launcher is given: "localhost:0,1,2,3".
void read_included_gpus(ForeignReading& r, const YamlNode& node) {
  constexpr std::string_view kHost = "localhost:";
  constexpr i64 kMaxGpus = 64;
  if (!node.scalar.starts_with(kHost) || node.scalar.find('@') != std::string::npos) return;
  const i64 gpus = 1 + i64(std::count(node.scalar.begin(), node.scalar.end(), ','));
  if (gpus <= kMaxGpus) r.draft.shape = NodeShape{.nodes = 1, .gpus = gpus};
}

/// A batch of all ranks, beside those of one rank, determines the number of data ranks.
void read_whole_batch(ForeignReading& r) {
  Draft& d = r.draft;
  const std::optional<i64> batch = read_whole_at(r, "global_batch_size", 1, plan::kMaxBatch);
  if (!batch) return;
  const std::optional<i64> each = product({d.micro_batch.value_or(1), d.accumulation.value_or(1)});
  const std::optional<i64> rest = product({d.tp.value_or(1), d.cp.value_or(1)});
  const bool known = d.micro_batch && d.accumulation && each && rest && divides(*each, *batch);
  const std::optional<i64> world = known ? product({*batch / *each, *rest}) : std::nullopt;
  if (world && *world <= cluster::kMaxDevices && !d.world && !d.shape)
    d.world = world;
  else if (!d.accumulation)
    d.global_batch = batch;
}

constexpr ForeignKey kFineTuningKeys[] = {
    {"lora_rank", "job.lora_rank", whole<&Draft::lora_rank, kMaxLoraRank>},
    {"lora_r", "job.lora_rank", whole<&Draft::lora_rank, kMaxLoraRank>},
    {"peft_lora_r", "job.lora_rank", whole<&Draft::lora_rank, kMaxLoraRank>},
    {"lora_dim", "job.lora_rank", whole<&Draft::lora_rank, kMaxLoraRank>},  // DeepSpeed-Chat
    {"only_optimize_lora", "job.lora_rank", read_adapter},
    {"finetuning_type", "job.lora_rank", read_adapter},
    {"adapter", "job.lora_rank", read_adapter},
    {"use_peft", "job.lora_rank", read_adapter},
    {"use_lora", "job.lora_rank", read_adapter},
    {"lora_enable", "job.lora_rank", read_llava_adapter},
    {"lora_enabled", "job.lora_rank", read_adapter},
    {"enable_lora", "job.lora_rank", read_adapter},
    {"use_peft_lora", "job.lora_rank", read_adapter},
    {"peft_enabled", "job.lora_rank", read_adapter},
    {"enable_peft", "job.lora_rank", read_adapter},
    {"is_lora", "job.lora_rank", read_adapter},
    {"low_rank_training", "job.lora_rank", read_adapter},  // LongLoRA's
    {"train_type", "job.lora_rank", read_adapter},         // three names of ms-swift's setting
    {"tuner_type", "job.lora_rank", read_adapter},
    {"sft_type", "job.lora_rank", read_adapter},
    {"target_modules", "job.lora_modules", read_lora_targets},
    {"trainable", "job.lora_modules", read_trainable},
    {"quant_bits", "job.base_dtype", read_quantization_bit},
    {"bits", "job.base_dtype", read_quantization_bit},
    {"lora_target", "job.lora_modules", read_lora_targets},
    {"lora_target_modules", "job.lora_modules", read_lora_targets},
    {"peft_target_modules", "job.lora_modules", read_lora_targets},
    {"lora_target_linear", "job.lora_modules", read_lora_linear},
    {"lora", "job.lora_rank", read_adapter},
    {"do_lora", "job.lora_rank", read_adapter},
    {"with_lora", "job.lora_rank", read_adapter},
    {"qlora", "job.lora_rank", read_qlora},
    {"q_lora", "job.lora_rank", read_qlora},
    {"use_qlora", "job.lora_rank", read_qlora},
    {"qlora_enabled", "job.lora_rank", read_qlora},
    {"use_4bit_quantization", "job.base_dtype", read_quantized<plan::BaseDtype::nf4>},
    {"use_8bit_quantization", "job.base_dtype", read_quantized<plan::BaseDtype::int8>},
    {"load_in_4bit", "job.base_dtype", read_quantized<plan::BaseDtype::nf4>},
    {"load_in_8bit", "job.base_dtype", read_quantized<plan::BaseDtype::int8>},
    {"quantization_bit", "job.base_dtype", read_quantization_bit},
    {"freeze_trainable_layers", "job.frozen"},
    {"freeze_trainable_modules", "job.frozen"},
    {"freeze_extra_modules", "job.frozen"},
    {"moe_enable", "", read_added_experts},
    {"train_modules", "", nullptr, false, kAllTrained},
    {"freeze_parameters", "", read_freeze},
    {"freeze_parameters_ratio", "", read_freeze},
    {"trainable_parameters_regex", "", nullptr, false, kAllTrained},
    {"trainable_modules", "", nullptr, false, kAllTrained},
    {"trainable_parameters", "", nullptr, false, kAllTrained},
    {"unfrozen_parameters", "", nullptr, false, kAllTrained},
    {"freeze_language_model", "", read_freeze},
    {"freeze_llm", "", read_freeze},
    {"freeze_LLM", "", read_freeze},
    {"freeze_backbone", "", read_freeze},
    {"freeze_base_model", "", read_freeze},
    {"freeze_vision_tower", "", read_encoder_switch},
    {"freeze_vision_modules", "", read_encoder_switch},
    {"freeze_vit", "", read_encoder_switch},
    {"freeze_aligner", "", read_encoder_switch},
    {"tune_mm_vision", "", read_encoder_switch},
    {"tune_vision", "", read_encoder_switch},
    {"tune_vision_tower", "", read_encoder_switch},
    {"unfreeze_vision", "", read_encoder_switch},
    {"train_vision_encoder", "", read_encoder_switch},
    {"freeze_vision", "", read_encoder_switch},
    {"freeze_visual_encoder", "", read_encoder_switch},
    {"freeze_vision_model", "", read_encoder_switch},
    {"freeze_multi_modal_projector", "", read_encoder_switch},
    {"freeze_mm_modules", "", read_encoder_switch},
    {"freeze_text_model", "", read_freeze},
    {"additional_trainable_parameters", "", nullptr, false,
     "only the adapters are estimated as trained"},
    {"adapter_name_or_path", "", nullptr, false,
     "the rank and modules of the adapter that it names count: estimated as this file states"},
    {"relora", "", nullptr, false, "estimated as one set of adapters"},
    {"quantize_moe_experts", "", nullptr, false,
     "experts are estimated in the format of the other weights"},
    {"layer_offloading", "", nullptr, false, "frozen layers are estimated on the device"},
    {"fp8", "", nullptr, false, "matmuls are estimated in 16 bits"},
    {"freeze_audio_encoder", "", read_encoder_switch},
    {"unfreeze_mm_vision_tower", "", read_encoder_switch},
    {"tune_mm_mlp_adapter", "", read_freeze},
    {"only_tune_projector", "", read_freeze},
    {"tune_mm_llm", "", read_trained},
    {"tune_llm", "", read_trained},
    {"train_llm", "", read_trained},
    {"tune_language_model", "", read_trained},
    {"mm_tunable_parts", "", read_tunable_parts},
    {"vision_tower", "", read_encoder},
    {"mm_vision_tower", "", read_encoder},
    {"vision_tower_path", "", read_encoder},
    {"image_tower", "", read_encoder},
    {"video_tower", "", read_encoder},
    {"audio_tower", "", read_encoder},
    {"graph_tower", "", read_encoder},
    {"speech_encoder", "", read_encoder},
    {"vision_model_name_or_path", "", read_encoder},
    {"teacher_model", "", read_second_model},
    {"teacher_model_name_or_path", "", read_second_model},
    {"teacher_name_or_path", "", read_second_model},
    {"teacher_model_path", "", read_second_model},
    {"reward_model", "", read_second_model},
    {"reward_model_path", "", read_second_model},
    {"ref_name_or_path", "job.ref_model"},
    {"ref_model_name_or_path", "job.ref_model"},
    {"ref_model_path", "job.ref_model"},
    {"ref_model", "job.ref_model"},
    {"stage", "job.method", read_stage},
    {"dpo", "job.method", read_pairs_switch},
    {"use_dpo", "job.method", read_pairs_switch},
    {"loss_type", "job.method"},
    {"rl", "job.method", read_trainer_method},
    {"rlhf_type", "job.method", read_trainer_method},
    {"pref_loss", "job.ref_model"},
    {"model_name", "model", read_model_name},
    {"model_path", "model", read_trainer_model},
    {"model_id_or_path", "model", read_trainer_model},
    {"model_id", "model", read_trainer_model},
    {"base_model_name_or_path", "model", read_trainer_model},
    {"pretrained_model_name_or_path", "model", read_trainer_model},
    {"model", "model", read_trainer_model},
    {"model_name_or_path", "model", read_trainer_model},
    {"base_model", "model", read_trainer_model},
    {"base_model_dir", "model", read_trainer_model},
    {"base_model_path", "model", read_trainer_model},
    {"pretrained_model_path", "model", read_trainer_model},
    {"llm_name_or_path", "model", read_trainer_model},
    {"model_type", "model", read_named_model},
    {"per_device_train_batch_size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>, true},
    {"micro_batch_size", "parallelism.micro_batch", whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"train_batch_size", "parallelism.micro_batch", whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"gradient_accumulation_steps", "job.global_batch",
     whole<&Draft::accumulation, plan::kMaxBatch>},
    {"grad_accum_steps", "job.global_batch", whole<&Draft::accumulation, plan::kMaxBatch>},
    {"accumulation_steps", "job.global_batch", whole<&Draft::accumulation, plan::kMaxBatch>},
    {"global_batch_size", "job.global_batch"},
    {"max_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"cutoff_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"sequence_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"max_seq_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"max_length", "job.sequence", read_length},
    {"model_max_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"max_seq_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"seq_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"seq_len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"block_size", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"context_length", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"bf16", "job.param_dtype"},
    {"fp16", "job.param_dtype"},
    {"pure_bf16", "job.master_dtype", read_pure_bf16},
    {"torch_dtype", "job.master_dtype"},
    {"dtype", "job.master_dtype"},
    {"gradient_checkpointing", "parallelism.recompute", read_trainer_recompute},
    {"use_gradient_checkpointing", "parallelism.recompute", read_trainer_recompute},
    {"gradient_checkpointing_enable", "parallelism.recompute", read_trainer_recompute},
    {"enable_activation_checkpointing", "parallelism.recompute", read_trainer_recompute},
    {"activation_checkpointing", "parallelism.recompute", read_trainer_recompute},
    {"activation_offloading", "parallelism.offload.activations", read_offload_activations},
    {"disable_gradient_checkpointing", "parallelism.recompute"},
    {"optim", "job.optimizer", read_trainer_optimizer},
    {"optimizer", "job.optimizer", read_trainer_optimizer},
    {"use_muon", "job.optimizer", read_muon_switch},
    {"use_8bit_optimizer", "job.optimizer", read_8bit_switch},
    {"use_8bit_adam", "job.optimizer", read_8bit_switch},
    {"use_adam_8bit", "job.optimizer", read_8bit_switch},
    {"deepspeed", "parallelism.zero_stage"},
    {"deepspeed_config", "parallelism.zero_stage"},
    {"deepspeed_config_path", "parallelism.zero_stage"},
    {"ds_config", "parallelism.zero_stage"},
    {"ds_config_path", "parallelism.zero_stage"},
    {"ds_config_file", "parallelism.zero_stage"},
    {"zero_stage", "parallelism.zero_stage"},
    {"offload", "parallelism.offload.optimizer"},
    {"fsdp", "parallelism.zero_stage"},
    {"fsdp_config", "parallelism.zero_stage"},
    {"fsdp_version", "parallelism.zero_stage"},
    {"tensor_parallel_size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>, true},
    {"context_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>, true},
    {"sequence_parallel_degree", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"sequence_parallel_size", "parallelism.cp_size", read_ulysses},
    {"seq_parallel_size", "parallelism.cp_size", read_ulysses},
    {"num_processes", "world_size", whole<&Draft::world, cluster::kMaxDevices>},
    {"include", "node_shape", read_included_gpus},
    {"nodes", "node_shape"},
    {"gpus_per_node", "node_shape"},
    {"expert_parallel_size", "parallelism.ep_size", whole<&Draft::ep, kMaxDegree>, true},
    {"dp_shard_size", "parallelism.dp_size"},
    {"dp_replicate_size", "parallelism.shard_size"},
    {"use_liger_kernel", "software.loss", read_fused_head},
    {"use_liger", "software.loss", read_fused_head},
    {"enable_liger_kernel", "software.loss", read_fused_head},
    {"liger_fused_linear_cross_entropy", "software.loss", read_fused_head},
    {"plugins", "software.loss", read_plugins},
    {"cut_cross_entropy", "software.loss", read_cut_cross_entropy},
    {"attn_implementation", "software.attention", read_attention_kernel},
    {"flash_attn", "software.attention", read_attention_kernel},
    {"eager_attention", "software.attention", read_eager_switch},
    {"attn_impl", "software.attention", read_attention_kernel},
    {"torch_compile", "software.compile", read_compile},
    {"accelerator_config.gradient_accumulation_kwargs.sync_each_batch", "software.sync_each_batch",
     read_sync},
    {"max_prompt_length", "job.sequence"},
    {"max_prompt_tokens", "job.sequence"},
    {"source_max_len", "job.sequence"},
    {"target_max_len", "job.sequence"},
    {"max_source_length", "job.sequence"},
    {"max_target_length", "job.sequence"},
    {"max_completion_length", "job.sequence"},
    {"vllm_max_model_length", "job.sequence"},
    {"beta", "job.ref_model"},
    {"use_vllm", ""},
    {kTrlMark, ""},
    {kSpreadMark, ""},
    {"module", ""},
    {kNewMark, ""},
    {"num_generations", ""},
    {"use_unsloth", "", nullptr, false, "estimated without Unsloth's kernels"},
    {"chord_sft_dataset", "", nullptr, false, "the sequences of its second loss are not estimated"},
    {"use_galore", "", nullptr, false, "estimated with Adam's states"},
    {"use_badam", "", nullptr, false, "estimated with Adam's states"},
    {"use_apollo", "", nullptr, false, "estimated with Adam's states"},
    {"use_adam_mini", "", nullptr, false, "estimated with Adam's states"},
    {"additional_target", ""},
    {"lora_modules_to_save", ""},
    {"modules_to_save", ""},
    {"resize_vocab", ""},
    {"vllm_device", ""},
    {"use_llama_pro", "", read_freeze},
    {"lisa_activated_layers", "", read_lisa},
    {"vit_lora_enable", "", read_encoder},
    {"finetune_ve", "", read_encoder},
    {"peft_config_path", "", nullptr, false,
     "the adapters in it are not read: estimated as PEFT's defaults"},
};

/// transformers has no fused kernel for gpt-oss, whose softmax has sinks, unless the file names
/// one.
void assume_eager_attention(ForeignReading& r, PlanFile& plan) {
  Draft& d = r.draft;
  const auto stated = [&](const char* key) { return find_path(r.root, key) != nullptr; };
  if (!d.model || !d.model->name.starts_with("gpt-oss") || d.attention ||
      stated("attn_implementation") || stated("attn_impl") || stated("parallel"))
    return;
  constexpr const char* kHint = "set software.attention in a plan file";
  constexpr const char* kAssumed =
      "unfused attention: transformers has no other for gpt-oss unless attn_implementation names a "
      "kernel";
  d.attention = plan::AttentionKernel::unfused;
  plan.open.push_back({"software.attention", kAssumed, kHint});
  r.fields.report(r.root, make_assumption(kAssumed, kHint));
}

/// A key that only MindSpeed-MM's recipes for FSDP have.
constexpr std::string_view kMindspeedMark = "fully_shard_parallel_size:";

/// The settings of such a recipe, and the Trainer's keys for them.
struct MindspeedSetting {
  std::string_view path, key;
};
constexpr MindspeedSetting kMindspeedSettings[] = {
    {"training.micro_batch_size", "per_device_train_batch_size"},
    {"training.gradient_accumulation_steps", "gradient_accumulation_steps"},
    {"training.optimizer", "optim"},
    {"parallel.tensor_parallel_size", "tensor_parallel_size"},
    {"parallel.expert_parallel_size", "expert_parallel_size"},
    {"parallel.ulysses_parallel_size", "sequence_parallel_size"},
    {"parallel.ring_attention_size", "context_parallel_size"},
    {"parallel.context_parallel_size", "context_parallel_size"},
    {"parallel.recompute", "gradient_checkpointing"},
    {"data.dataset_param.basic_parameters.cutoff_len", "cutoff_len"},
    {"model.model_name_or_path", "model_name_or_path"},
    {"model.attn_implementation", "attn_implementation"},
};

/// Takes a recipe of MindSpeed-MM for one of the Trainer that shards all states.
void translate_mindspeed(YamlNode& root) {
  const YamlNode* const shards = find_path(root, "parallel.fully_shard_parallel_size");
  if (shards == nullptr) return;
  std::vector<YamlEntry> entries;
  const auto put = [&](std::string_view key, const YamlNode& value) {
    const bool known = std::any_of(entries.begin(), entries.end(),
                                   [&](const YamlEntry& entry) { return entry.key.scalar == key; });
    const bool one = value.scalar == "1" && key.ends_with("parallel_size");
    if (known || one || value.kind != YamlNode::Kind::scalar) return;
    YamlEntry entry{value, value};
    entry.key.scalar = key;
    entries.push_back(std::move(entry));
  };
  for (const auto& [path, key] : kMindspeedSettings)
    if (const YamlNode* const value = find_path(root, path)) put(key, *value);
  YamlNode word = *shards;
  word.scalar = "full_shard";
  put("fsdp", word);
  const YamlNode* const format = find_path(root, "parallel.fsdp_plan.param_dtype");
  word.scalar = "true";
  put(format != nullptr && format->scalar == "fp16" ? "fp16" : "bf16", word);
  root.entries = std::move(entries);
}

}  // namespace

bool claims_fine_tuning(std::string_view file, std::string_view text) {
  if (claims_trainer_script(file, text) || claims_trainer_program(file, text)) return true;
  if (claims_accelerate(file, text)) return false;
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  return (is_yaml_file(file) || file == "-") &&
         (has(kMindspeedMark) ||
          (has("per_device_train_batch_size:") && has("gradient_accumulation_steps:") &&
           (has("use_peft:") || has("lora_r:") || has("max_seq_length:"))) ||
          (has("finetuning_type:") && has("model_name_or_path:")) ||
          (has("base_model:") && (has("sequence_len:") || has("datasets:"))) ||
          (has("model:") && (has("train_type:") || has("tuner_type:") || has("rlhf_type:")) &&
           (has("per_device_train_batch_size:") || has("dataset:"))) ||
          ((has("model_name_or_path:") || has("model_name:")) &&
           has("per_device_train_batch_size:")));
}

namespace {

constexpr std::string_view kBatchKey = "per_device_train_batch_size";

/// Returns the section that states the batch: that of fine-tuning, if there are several.
const YamlEntry* find_training_section(const YamlNode& root) {
  const YamlEntry* found = nullptr;
  for (const YamlEntry& entry : root.entries) {
    if (entry.value.kind != YamlNode::Kind::map || entry.value.find(kBatchKey) == nullptr) continue;
    const bool tunes = entry.key.scalar == "training" || entry.key.scalar.starts_with("sft");
    if (found == nullptr || tunes) found = &entry;
    if (tunes) break;
  }
  return found;
}

}  // namespace

// MindSpeed-LLM's recipes for FSDP, and configs of programs of their own, have sections. Degrees
// have names of their own in the former.
void lift_sections(YamlNode& root) {
  translate_mindspeed(root);
  constexpr std::string_view kLifted[] = {"model", "data", "training", "parallel"};
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"fsdp_size", "dp_shard_size"},
      {"tp_size", "tensor_parallel_size"},
      {"ep_size", "expert_parallel_size"},
      {"recompute", "gradient_checkpointing"}};
  const YamlEntry* const training = find_training_section(root);
  if (training == nullptr || root.find(kBatchKey) != nullptr) return;
  std::vector<YamlEntry> lifted = training->value.entries;
  for (const YamlEntry& entry : root.entries) {
    const std::string_view name = entry.key.scalar;
    const bool known = std::any_of(std::begin(kLifted), std::end(kLifted),
                                   [&](std::string_view one) { return name.starts_with(one); });
    if (known && &entry != training)
      lifted.insert(lifted.end(), entry.value.entries.begin(), entry.value.entries.end());
  }
  for (YamlEntry& entry : lifted) {
    for (const auto& [name, known] : kRenamed)
      if (entry.key.scalar == name) entry.key.scalar = known;
    if (root.find(entry.key.scalar) == nullptr) root.entries.push_back(std::move(entry));
  }
}

std::span<const ForeignKey> fine_tuning_keys() { return kFineTuningKeys; }

void read_fine_tuning_tree(ForeignReading& reading, PlanFile& plan,
                           const std::optional<Draft>& launched) {
  const YamlNode& root = reading.root;
  Draft& draft = plan.draft;
  // LLaMA-Factory recomputes unless told not to.
  if (find_path(root, "finetuning_type") != nullptr)
    draft.recompute = is_on_at(root, "disable_gradient_checkpointing") ? plan::Recompute::none
                                                                       : plan::Recompute::full;
  constexpr std::string_view kTuners[] = {"lora",     "full",    "longlora", "adalora", "qlora",
                                          "llamapro", "adapter", "vera",     "boft",    "reft"};
  for (const char* const key : {"train_type", "tuner_type", "sft_type"})  // so does ms-swift
    if (const YamlNode* const type = find_path(root, key);
        type != nullptr &&
        std::find(std::begin(kTuners), std::end(kTuners), type->scalar) != std::end(kTuners))
      draft.recompute = plan::Recompute::full;
  read_foreign(reading, kFineTuningKeys, plan);
  // Experts are distributed by the tools themselves.
  if (draft.ep.value_or(1) == 1) draft.target = rules::Target::accelerate;
  draft.framework = find_software(rules::Target::accelerate);
  draft.zero = 0;
  draft.sequence_parallel = false;
  draft.order = mesh::kDefaultOrder;
  read_sharding(reading, launched, plan);
  read_trainer_precision(reading);
  read_prompt_and_completion(reading, plan);
  read_other_length(reading, plan);
  finish_adapter(reading, plan);
  finish_trainer_precision(reading);
  finish_freeze(reading);
  read_whole_batch(reading);
  finish_method(reading, plan);
  report_unread_settings(reading, kFineTuningKeys);
  assume_eager_attention(reading, plan);
  if (draft.cp > 1 && !draft.cp_comm) draft.cp_comm = plan::CpComm::p2p;  // ring attention
  for (const char* const key : {"sequence_parallel_size", "seq_parallel_size"})
    if (find_path(root, key) != nullptr)  // tools with these keys split sequences themselves
      plan.answered.emplace_back("RW0586");
  if (draft.cp_comm == plan::CpComm::a2a) pad_sequence(draft);
  plan.ignored_keys.clear();  // data, logging and learning rates: most of such a file
  // A script states its launcher; that of a YAML file is not known.
  const bool zero_open = std::any_of(plan.open.begin(), plan.open.end(), [](const OpenValue& one) {
    return one.key == "parallelism.zero_stage";
  });
  if (reading.dashes.empty() && zero_open && draft.zero == 0) draft.zero.reset();
}

void read_fine_tuning(PlanFile& plan, const FileReader& files) {
  if (is_script_file(plan.name)) return read_trainer_script(plan, files);
  if (plan.name.ends_with(".py")) return read_trainer_program(plan, files);
  Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
  if (!root) return plan.findings.push_back(root.error());
  lift_sections(*root);
  if (find_path(*root, "model_name_or_path") != nullptr && !root->find("finetuning_type")) {
    ScriptFlags flags;
    flags.map = std::move(*root);
    add_named_settings(flags, list_name_parts(plan.name), false, plan);
    *root = std::move(flags.map);
  }
  follow_fsdp_config(*root, plan.name, files, plan.findings);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, files};
  read_fine_tuning_tree(reading, plan);
  // The Trainer's default.
  if (find_path(*root, "per_device_train_batch_size") != nullptr && !plan.draft.global_batch &&
      !plan.draft.accumulation && find_path(*root, "gradient_accumulation_steps") == nullptr)
    plan.draft.accumulation = 1;
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
