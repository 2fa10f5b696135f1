// Reads verl's launch scripts, which override a Hydra config (`actor_rollout_ref.actor...=...`),
// and its YAML configs: the training of the actor, by FSDP or Megatron-LM. Checked against the
// defaults of verl main of 2026. Rollouts and reward models are not estimated.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/recipe_script.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/recipe/verl_configs.h"

namespace rankwright::importer {
namespace {

void read_verl_granularity(ForeignReading& r, const YamlNode& node) {
  if (is_off(node) || node.scalar == "null") return;
  constexpr Word<plan::Recompute> kWords[] = {{"full", plan::Recompute::full},
                                              {"selective", plan::Recompute::selective}};
  r.draft.recompute = parse_word(r, node, kWords);
}

/// -1 shards over all data ranks.
void read_fsdp_size(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "-1") r.draft.shard_size = r.fields.whole(node, 1, kMaxDegree);
}

/// Weights are kept in fp32 by default; in 16 bits, gradients and optimizer states are too.
void read_model_dtype(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("32") != std::string::npos) return;
  r.draft.grad_dtype = r.draft.moment_dtype = r.draft.master_dtype = plan::Dtype::bf16;
}

void read_reduce_dtype(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("32") == std::string::npos)
    report_left_out(r, node, "reduce_dtype: gradients are estimated as reduced in fp32");
}

/// Reads EasyR1's optimizer: "adamw_bf16" keeps everything in 16 bits.
void read_fork_optimizer(ForeignReading& r, const YamlNode& node) {
  read_optimizer_class(r, node);
  if (node.scalar.find("bf16") != std::string::npos) r.draft.moment_dtype = plan::Dtype::bf16;
}

constexpr const char* kTransformer =
    "actor_rollout_ref.actor.megatron.override_transformer_config.";

void read_activation_offload(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.offload_activations = true;
}

/// Reads the part of the optimizer states that `optimizer_cpu_offload` moves.
void read_verl_fraction(ForeignReading& r, const YamlNode& node) {
  if (r.draft.offload_optimizer) r.draft.offload_optimizer = r.fields.number(node, 0, 1);
}

template <std::optional<i64> Draft::*member, i64 max>
void unless_null(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "null" && node.scalar != "None") whole<member, max>(r, node);
}

constexpr std::string_view kEvenStages = "the layers are estimated as an even split";

constexpr const char* kMovedBetweenSteps =
    "states are moved to the host between steps, which is not estimated";

constexpr ForeignKey kVerlKeys[] = {
    {"actor_rollout_ref.model.lora_rank", "job.lora_rank", read_lora_rank},
    {"model.lora_rank", "job.lora_rank", read_lora_rank},
    {"actor_rollout_ref.model.target_modules", "job.lora_modules", read_lora_targets},
    {"actor_rollout_ref.model.lora.target_modules", "job.lora_modules", read_lora_targets},
    {"model.target_modules", "job.lora_modules", read_lora_targets},
    {"actor_rollout_ref.model.path", "model", read_named_model},
    {"model.partial_pretrain", "model", read_named_model},
    {"model.path", "model", read_named_model},
    {"actor_rollout_ref.actor.use_kl_loss", "job.ref_model"},
    {"actor_rollout_ref.ref.fsdp_config.param_offload", "job.ref_model"},
    {"actor_rollout_ref.ref.megatron.param_offload", "job.ref_model"},
    {"actor_rollout_ref.actor.entropy_coeff", "software.loss"},
    {"trainer.nnodes", "node_shape"},
    {"trainer.n_gpus_per_node", "node_shape"},
    {"nodes", "node_shape"},
    {"gpus-per-node", "node_shape"},
    {"actor_rollout_ref.actor.ppo_mini_batch_size", "job.global_batch"},
    {"actor_rollout_ref.rollout.n", "job.global_batch"},
    {"actor_rollout_ref.rollout.n_repeat", "job.global_batch"},
    {"data.train_batch_size", "job.global_batch"},
    {"data.max_prompt_length", "job.sequence"},
    {"data.max_response_length", "job.sequence"},
    {"data.max_length", "job.sequence"},
    {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "parallelism.micro_batch"},
    {"actor_rollout_ref.actor.use_dynamic_bsz", "parallelism.micro_batch"},
    {"actor_rollout_ref.actor.ppo_max_token_len_per_gpu", "parallelism.micro_batch"},
    {"data.micro_batch_size_per_gpu", "parallelism.micro_batch"},
    {"data.micro_batch_size", "parallelism.micro_batch"},  // of all ranks, in older releases
    {"data.use_dynamic_bsz", "parallelism.micro_batch"},
    {"data.max_token_len_per_gpu", "parallelism.micro_batch"},
    {"actor_rollout_ref.actor.ulysses_sequence_parallel_size", "parallelism.cp_size",
     whole<&Draft::cp, kMaxContext>},
    {"actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size", "parallelism.cp_size",
     whole<&Draft::cp, kMaxContext>},
    {"ulysses_sequence_parallel_size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"engine.ulysses_sequence_parallel_size", "parallelism.cp_size",
     whole<&Draft::cp, kMaxContext>},
    {"actor_rollout_ref.actor.fsdp_config.fsdp_size", "parallelism.shard_size", read_fsdp_size},
    {"actor_rollout_ref.actor.fsdp_config.reshard_after_forward", "parallelism.zero_stage"},
    {"actor_rollout_ref.actor.fsdp_config.offload_policy", "parallelism.offload.parameters",
     read_offload_all},
    {"actor_rollout_ref.actor.fsdp_config.model_dtype", "job.grad_dtype", read_model_dtype},
    {"model.fsdp_config.model_dtype", "job.grad_dtype", read_model_dtype},
    {"engine.model_dtype", "job.grad_dtype", read_model_dtype},
    {"actor_rollout_ref.actor.fsdp_config.mixed_precision.reduce_dtype", "", read_reduce_dtype},
    {"actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype", "job.param_dtype",
     read_trainer_dtype},
    {"actor_rollout_ref.actor.fsdp_config.dtype", "job.param_dtype", read_trainer_dtype},
    {"actor_rollout_ref.actor.optim.optimizer", "job.optimizer", read_optimizer_class},
    {"actor_rollout_ref.actor.optim.strategy", "job.optimizer", read_fork_optimizer},
    {"actor_rollout_ref.model.override_config.attn_implementation", "software.attention",
     read_eager_attention},
    {"actor_rollout_ref.model.override_config.model_config.attn_implementation",
     "software.attention", read_eager_attention},
    {"actor_rollout_ref.actor.strategy", ""},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", "parallelism.recompute",
     read_full_recompute},
    {"model.enable_gradient_checkpointing", "parallelism.recompute", read_full_recompute},
    {"actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "parallelism.tp_size",
     whole<&Draft::tp, kMaxDegree>},
    {"actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", "parallelism.pp_size",
     whole<&Draft::pp, kMaxDegree>},
    {"actor_rollout_ref.actor.megatron.context_parallel_size", "parallelism.cp_size",
     whole<&Draft::cp, kMaxContext>},
    {"actor_rollout_ref.actor.megatron.expert_model_parallel_size", "parallelism.ep_size",
     whole<&Draft::ep, kMaxDegree>},
    {"actor_rollout_ref.actor.megatron.expert_tensor_parallel_size", "parallelism.etp_size",
     unless_null<&Draft::etp, kMaxDegree>},
    {"actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size",
     "parallelism.virtual_stages", unless_null<&Draft::virtual_stages, kMaxChunks>},
    {"actor_rollout_ref.actor.megatron.sequence_parallel", "parallelism.sequence_parallel",
     python_flag<&Draft::sequence_parallel>},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity",
     "parallelism.recompute", read_verl_granularity},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method",
     "parallelism.recompute"},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers",
     "parallelism.recompute"},
    {"actor_rollout_ref.actor.megatron.override_transformer_config."
     "num_layers_in_first_pipeline_stage",
     "parallelism.stages"},
    {"actor_rollout_ref.actor.megatron.override_transformer_config."
     "num_layers_in_last_pipeline_stage",
     "parallelism.stages"},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.pipeline_model_parallel_layout",
     "", nullptr, false, kEvenStages},
    {"actor_rollout_ref.actor.megatron.override_transformer_config."
     "account_for_embedding_in_pipeline_split",
     "", nullptr, false, kEvenStages},
    {"actor_rollout_ref.actor.megatron.override_transformer_config."
     "account_for_loss_in_pipeline_split",
     "", nullptr, false, kEvenStages},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.moe_token_dispatcher_type",
     "parallelism.dispatcher", read_dispatcher_type},
    {"actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload",
     "parallelism.offload.optimizer", read_offload_optimizer},
    {"actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction",
     "parallelism.offload.optimizer", read_verl_fraction},
    {"actor_rollout_ref.model.use_fused_kernels", "software.loss"},
    {"actor_rollout_ref.actor.megatron.qat.enable", "", nullptr, false,
     "estimated without quantized weights"},
    {"actor_rollout_ref.actor.qat.enable", "", nullptr, false,
     "estimated without quantized weights"},
    {"actor_rollout_ref.model.lora.rank", "job.lora_rank", read_lora_rank},
    {"actor_rollout_ref.model.enable_activation_offload", "parallelism.offload.activations",
     read_activation_offload},
    {"model.enable_activation_offload", "parallelism.offload.activations", read_activation_offload},
    {"engine.param_offload", "", nullptr, false, kMovedBetweenSteps},
    {"engine.optimizer_offload", "", nullptr, false, kMovedBetweenSteps},
    {"model.fsdp_config.cpu_offload", "parallelism.offload.parameters", read_offload_all},
    {"actor_rollout_ref.actor.ppo_micro_batch_size", "parallelism.micro_batch"},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.fp8", "", nullptr, false,
     "estimated in bf16"},
    {"actor_rollout_ref.actor.distill_loss.name", "", nullptr, false,
     "only the trained model is counted, without its teacher"},
    {"actor_rollout_ref.model.freeze_vision_tower", "", nullptr, false,
     "only the language model is estimated"},
};

/// Returns the rows of a prefix under which Megatron-LM's settings are.
bool runs_megatron(const ForeignReading& r) {
  const YamlNode* const strategy = find_path(r.root, "actor_rollout_ref.actor.strategy");
  if (strategy != nullptr) return strategy->scalar == "megatron";
  for (const char* const path : {"config-name", "model_engine"})
    if (const YamlNode* const node = find_path(r.root, path);
        node != nullptr && node->scalar.find("megatron") != std::string::npos)
      return true;
  constexpr std::string_view kPrefix = "actor_rollout_ref.actor.megatron.";
  for (const YamlEntry& entry : r.root.entries)
    if (entry.key.scalar.starts_with(kPrefix)) return true;
  return find_path(r.root, "actor_rollout_ref.actor.megatron") != nullptr &&
         find_path(r.root, "actor_rollout_ref.actor.fsdp_config") == nullptr;
}

/// Returns whether the file runs verl's supervised fine-tuning.
bool only_fine_tunes(const ForeignReading& r) {
  constexpr std::string_view kActor = "actor_rollout_ref.";
  const bool actor =
      std::any_of(r.root.entries.begin(), r.root.entries.end(),
                  [&](const YamlEntry& entry) { return entry.key.scalar.starts_with(kActor); });
  return !actor && find_path(r.root, "actor_rollout_ref.model.path") == nullptr &&
         find_path(r.root, "actor_rollout_ref.rollout") == nullptr &&
         find_path(r.root, "actor_rollout_ref.actor.ppo_mini_batch_size") == nullptr;
}

/// Reads a micro-batch that all data ranks share, as older versions of verl state it.
std::optional<i64> read_shared_micro_batch(ForeignReading& r, const std::string& path) {
  const Draft& d = r.draft;
  const std::optional<i64> all = read_whole_at(r, path, 1, plan::kMaxBatch);
  const std::optional<i64> rest = product({d.tp.value_or(1), d.cp.value_or(1), d.pp.value_or(1)});
  if (!all || !d.shape || !rest) return std::nullopt;
  const i64 ranks = std::max<i64>(1, d.shape->nodes * d.shape->gpus / *rest);
  return std::clamp<i64>(*all / ranks, 1, kMaxMicroBatch);
}

/// Returns the batch if a mini-batch of `prompts` is larger: it is then one update, which later
/// versions refuse. A batch of 0 is that of a trainer without one, and the steps of an environment
/// are sequences of their own. Leaves the batch open, and reports it.
std::optional<i64> find_small_batch(ForeignReading& r, std::optional<i64> prompts, PlanFile& plan) {
  constexpr const char* kMini = "actor_rollout_ref.actor.ppo_mini_batch_size";
  const std::optional<i64> batch = read_whole_at(r, "data.train_batch_size", 0, plan::kMaxBatch);
  const bool environment =
      std::any_of(r.root.entries.begin(), r.root.entries.end(), [](const YamlEntry& entry) {
        return entry.key.scalar == "env" || entry.key.scalar.starts_with("env.");
      });
  if (!batch || *batch == 0 || !prompts || *batch >= *prompts || environment) return std::nullopt;
  const std::string update = fmt::format("an update of {}", plural(*batch, "prompt", "prompts"));
  plan.open.push_back({"job.global_batch", update, "set global_batch in a plan file"});
  const YamlNode* const mini = find_path(r.root, kMini);
  r.fields.report(mini == nullptr ? *find_path(r.root, "data.train_batch_size") : *mini,
                  make_assumption(fmt::format("{}: the mini-batch of {} is larger than "
                                              "train_batch_size",
                                              update, count(*prompts))));
  return batch;
}

/// A mini-batch counts prompts; each has `n` responses. Fine-tuning counts sequences.
void read_verl_batch(ForeignReading& r, const ScriptFlags& flags, PlanFile& plan) {
  Draft& d = r.draft;
  const std::string actor = "actor_rollout_ref.actor.";
  const auto unknown = [&](std::string_view path) {
    return std::any_of(flags.unknown.begin(), flags.unknown.end(),
                       [&](const auto& one) { return one.flag == path; });
  };
  if (only_fine_tunes(r)) {
    d.global_batch = read_whole_at(r, "data.train_batch_size", 1, plan::kMaxBatch).value_or(256);
    d.micro_batch = read_whole_at(r, "data.micro_batch_size_per_gpu", 1, kMaxMicroBatch);
    if (!d.micro_batch) d.micro_batch = read_shared_micro_batch(r, "data.micro_batch_size");
    d.sequence = read_whole_at(r, "data.max_length", 1, kMaxSequence).value_or(1024);
    const YamlNode* const packs = find_path(r.root, "data.use_dynamic_bsz");
    const std::optional<i64> most = read_whole_at(r, "data.max_token_len_per_gpu", 1, kMaxSequence);
    if (packs != nullptr && !is_off(*packs) && most)
      fill_packed_micro_batch(r, *most * d.cp.value_or(1), *packs, plan);
    return;
  }
  i64 responses = read_whole_at(r, "actor_rollout_ref.rollout.n", 1, 1 << 20).value_or(1);
  if (const std::optional<i64> repeats =  // of Agent-R1
      read_whole_at(r, "actor_rollout_ref.rollout.n_repeat", 1, 1 << 20);
      repeats && responses == 1)
    responses = *repeats;
  constexpr i64 kUsualPrompts = 256;
  std::optional<i64> prompts = read_whole_at(r, actor + "ppo_mini_batch_size", 1, plan::kMaxBatch);
  if (!prompts && !unknown(actor + "ppo_mini_batch_size")) prompts = kUsualPrompts;
  const bool open =
      unknown(actor + "ppo_mini_batch_size") || unknown("actor_rollout_ref.rollout.n");
  const std::optional<i64> small = find_small_batch(r, prompts, plan);
  const std::optional<i64> all =
      product({small ? *small : prompts.value_or(kUsualPrompts), responses});
  if (!open && all && *all <= plan::kMaxBatch) d.global_batch = all;
  const i64 prompt = read_whole_at(r, "data.max_prompt_length", 1, kMaxSequence / 2).value_or(512);
  const i64 answer =
      read_whole_at(r, "data.max_response_length", 1, kMaxSequence / 2).value_or(512);
  if (!unknown("data.max_prompt_length") && !unknown("data.max_response_length"))
    d.sequence = prompt + answer;
  const YamlNode* const dynamic = find_path(r.root, actor + "use_dynamic_bsz");
  if (dynamic == nullptr || is_off(*dynamic)) {
    d.micro_batch = read_whole_at(r, actor + "ppo_micro_batch_size_per_gpu", 1, kMaxMicroBatch);
    const YamlNode* const each = find_path(r.root, actor + "ppo_micro_batch_size");
    if (!d.micro_batch && each != nullptr && each->scalar != "null")
      d.micro_batch = read_shared_micro_batch(r, actor + "ppo_micro_batch_size");
    return;
  }
  const i64 tokens =
      read_whole_at(r, actor + "ppo_max_token_len_per_gpu", 1, kMaxSequence).value_or(16384);
  fill_packed_micro_batch(r, tokens * d.cp.value_or(1), *dynamic, plan);
}

/// Sets verl's defaults for the engine that trains.
void fill_engine(ForeignReading& r) {
  Draft& d = r.draft;
  const bool megatron = runs_megatron(r);
  if (!d.param_dtype || megatron) d.param_dtype = plan::Dtype::bf16;
  if (!d.grad_dtype) d.grad_dtype = plan::Dtype::fp32;
  if (!d.optimizer) d.optimizer = plan::Optimizer::adam;
  d.order = mesh::kDefaultOrder;
  if (megatron) {
    d.zero = 1;  // use_distributed_optimizer
    d.shard_size.reset();
    const std::string transformer = kTransformer;
    const YamlNode* const granularity = find_path(r.root, transformer + "recompute_granularity");
    if (granularity == nullptr || is_off(*granularity)) d.recompute = plan::Recompute::none;
    const YamlNode* const method = find_path(r.root, transformer + "recompute_method");
    if (d.recompute == plan::Recompute::full && method != nullptr && method->scalar == "block")
      d.recompute_layers =
          read_whole_at(r, transformer + "recompute_num_layers", 1, model::kMaxLayers);
    read_end_stages(r, transformer);
    if (!d.sequence_parallel) d.sequence_parallel = d.tp > 1;
    if (d.tp.value_or(1) == 1) d.sequence_parallel = false;
    if (!d.etp) d.etp = d.tp.value_or(1);
    d.framework = find_software(rules::Target::megatron);
    return;
  }
  d.tp = d.pp = 1;
  d.ep = d.etp = std::nullopt;
  d.virtual_stages.reset();
  const YamlNode* const reshard =
      find_path(r.root, "actor_rollout_ref.actor.fsdp_config.reshard_after_forward");
  d.zero = reshard != nullptr && is_off(*reshard) ? 2 : 3;
  // A shard of all ranks or more is one of all of them (create_device_mesh).
  if (d.shape && d.shard_size && *d.shard_size >= d.shape->nodes * d.shape->gpus)
    d.shard_size.reset();
  d.sync_each_batch = true;  // its actor never turns the reduction of gradients off
  const YamlNode* rank = find_path(r.root, "actor_rollout_ref.model.lora_rank");
  if (rank == nullptr) rank = find_path(r.root, "model.lora_rank");
  const YamlNode* stored = find_path(r.root, "actor_rollout_ref.actor.fsdp_config.model_dtype");
  for (const char* const path : {"model.fsdp_config.model_dtype", "engine.model_dtype"})
    if (stored == nullptr) stored = find_path(r.root, path);
  if (d.lora_rank && rank != nullptr &&
      (stored == nullptr || stored->scalar.find("16") == std::string::npos))
    d.base_dtype = plan::BaseDtype::fp32;
  d.sequence_parallel = false;
  if (d.cp > 1) d.cp_comm = plan::CpComm::a2a;  // Ulysses
  if (!d.recompute) d.recompute = plan::Recompute::full;
  d.framework = find_software(rules::Target::accelerate);
}

/// Returns whether the settings are EasyR1's, under verl's names or its own.
bool is_fork(const ForeignReading& r) {
  return std::any_of(r.root.entries.begin(), r.root.entries.end(), [](const YamlEntry& entry) {
    const std::string_view key = entry.key.scalar;
    return key == "worker" || key.starts_with("worker.") || key == "config";
  });
}

/// Returns whether the file has settings that only verl before 0.3 has: its entropy_coeff is 0.001,
/// which is 0 since 0.4. EasyR1 has no such loss.
bool is_early_release(const ForeignReading& r) {
  if (is_fork(r)) return false;
  constexpr const char* kEarly[] = {"actor_rollout_ref.actor.fsdp_config.grad_offload",
                                    "critic.model.fsdp_config.grad_offload", "data.val_batch_size"};
  return std::any_of(std::begin(kEarly), std::end(kEarly),
                     [&](const char* path) { return find_path(r.root, path) != nullptr; });
}

/// Early releases split a mini-batch into micro-batches of which the last may be smaller; later
/// ones refuse it.
void allow_smaller_micro_batch(ForeignReading& r, PlanFile& plan) {
  const Draft& d = r.draft;
  if (!is_early_release(r) || !d.shape || !d.global_batch || !d.micro_batch) return;
  const std::optional<i64> at_once = product({d.shape->nodes * d.shape->gpus, *d.micro_batch});
  if (!at_once || divides(*at_once, *d.global_batch)) return;
  plan.answered.emplace_back("RW0110");
  report_left_out(r, r.root,
                  "the last micro-batch of an update is smaller, which verl refuses since 0.3: "
                  "estimated as whole ones");
}

/// A setting that the file leaves to verl, whose default changed between its versions.
struct ChangedDefault {
  const char* path;
  const char* plan_key;
  const char* shown;
  bool fine_tuning;  // of supervised fine-tuning, or of reinforcement learning
  bool early;        // the value is that of early releases
};
constexpr ChangedDefault kChangedDefaults[] = {
    {"model.enable_gradient_checkpointing", "parallelism.recompute",
     "full recomputation (since 0.5)", true, false},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", "parallelism.recompute",
     "full recomputation (since 0.2)", false, false},
    {"actor_rollout_ref.actor.entropy_coeff", "software.loss", "no entropy loss (since 0.4)", false,
     false},
    {"actor_rollout_ref.actor.entropy_coeff", "software.loss",
     "an entropy loss (before 0.4, which has the other settings)", false, true}};

/// Reports the defaults that hold only for some versions of verl, which a file does not state.
void assume_defaults(ForeignReading& r, PlanFile& plan) {
  std::vector<std::string_view> shown;
  const bool tunes = only_fine_tunes(r), early = is_early_release(r), megatron = runs_megatron(r);
  for (const ChangedDefault& row : kChangedDefaults) {
    const bool loss = std::string_view(row.plan_key) == "software.loss";
    if (row.fine_tuning != tunes || find_path(r.root, row.path) != nullptr) continue;
    if (loss ? row.early != early : megatron) continue;
    plan.open.push_back({row.plan_key, row.shown, fmt::format("set {}", row.path)});
    shown.emplace_back(row.shown);
  }
  if (shown.empty()) return;
  r.fields.report(r.root, make_assumption(fmt::format("defaults of verl that changed between its "
                                                      "versions: {}",
                                                      fmt::join(shown, ", ")),
                                          "state them in the file"));
}

/// Reports what shares the GPUs with the update of the actor. The estimator of advantages is gae by
/// default, which trains a critic.
void report_other_work(ForeignReading& r) {
  if (only_fine_tunes(r)) return;
  const YamlNode* const estimator = find_path(r.root, "algorithm.adv_estimator");
  const bool critic = estimator == nullptr
                          ? !is_fork(r)
                          : estimator->scalar == "gae" || is_on_at(r.root, "critic.enable");
  constexpr const char* kPlaces[] = {
      "actor_rollout_ref.rollout.name", "actor_rollout_ref.rollout.n",
      "actor_rollout_ref.actor.ppo_mini_batch_size", "actor_rollout_ref.model.path"};
  const YamlNode* place = &r.root;
  for (const char* const path : kPlaces)
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && place == &r.root)
      place = node;
  report_left_out(
      r, *place,
      fmt::format("only the update of the actor is estimated: rollouts, {}reward models "
                  "and passes for log-probabilities share the GPUs with it",
                  critic ? "a trained critic, " : ""));
}

/// Reinforcement learning updates the actor. A reference model that is not moved to the host stays
/// on the device. Log-probabilities are computed in place (flash-attn) or as Megatron-LM's loss,
/// unless the entropy is part of the loss.
void read_verl_method(ForeignReading& r) {
  Draft& d = r.draft;
  if (only_fine_tunes(r)) return;
  d.method = plan::Method::grpo;
  d.ref_model = is_on_at(r.root, "actor_rollout_ref.actor.use_kl_loss") &&
                !is_on_at(r.root, "actor_rollout_ref.ref.fsdp_config.param_offload") &&
                !is_on_at(r.root, "actor_rollout_ref.ref.megatron.param_offload");
  const YamlNode* const entropy = find_path(r.root, "actor_rollout_ref.actor.entropy_coeff");
  const bool counts_entropy = entropy == nullptr
                                  ? is_early_release(r)
                                  : entropy->scalar.find_first_of("123456789") != std::string::npos;
  d.loss = is_on_at(r.root, "actor_rollout_ref.model.use_fused_kernels") ? plan::Loss::fused_linear
           : counts_entropy                                              ? plan::Loss::log_probs
           : runs_megatron(r)                                            ? plan::Loss::unfused
                                                                         : plan::Loss::fused;
}

/// Reports a second trained model, which forks of verl have: "coach.actor.ppo_mini_batch_size".
void report_other_actors(ForeignReading& r) {
  constexpr std::string_view kBatch = ".actor.ppo_mini_batch_size";
  for (const YamlEntry& entry : r.root.entries) {
    const std::string_view key = entry.key.scalar;
    const YamlNode* const nested = entry.value.find("actor");
    const bool flat = key.ends_with(kBatch);
    if (key.starts_with("actor_rollout_ref")) continue;
    if (!flat && (nested == nullptr || nested->find("ppo_mini_batch_size") == nullptr)) continue;
    return report_left_out(r, flat ? entry.value : entry.key,
                           fmt::format("{}: only one trained model is estimated, without this one",
                                       make_excerpt(key.substr(0, key.find('.')))));
  }
}

}  // namespace

bool claims_verl(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (is_yaml_file(file))
    return (has("actor_rollout_ref:") && has("ppo_mini_batch_size:")) ||
           (has("actor_rollout_ref:") && !find_inherited_trainer(text).empty()) ||
           has("micro_batch_size_per_device_for_update:") ||
           (has("partial_pretrain:") && has("train_batch_size:") && has("n_gpus_per_node:"));
  const bool trainer =
      has("verl.trainer.") &&
      (has("data.train_files=") || has("--config-name") || has("actor_rollout_ref.") ||
       has("verl.trainer.fsdp_sft_trainer") || has("verl.trainer.sft_trainer"));
  return is_script_file(file) && (has("actor_rollout_ref.actor.") || is_easyr1(text) || trainer);
}

void read_verl(PlanFile& plan, const FileReader& files) {
  const std::optional<ScriptFlags> settings = read_verl_settings(plan, files);
  if (!settings) return;
  const ScriptFlags& flags = *settings;
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, files};
  reading.known = &KnownKeys::find(is_easyr1(plan.text) ? "easyr1" : "verl");
  reading.launcher_keys = flags.of_launcher;
  reading.launcher_keys.insert(reading.launcher_keys.end(),
                               {"nodes", "gpus-per-node", "config", "defaults"});
  for (const ForkSetting& one : fork_settings()) reading.launcher_keys.emplace_back(one.fork);
  read_foreign(reading, kVerlKeys, plan);
  plan.ignored_keys.clear();  // data, rollout and logging: most of such a file
  // Fine-tuning has the ranks of its launcher; the other trainers start their own.
  const bool launched =
      only_fine_tunes(reading) && find_path(flags.map, "gpus-per-node") != nullptr;
  if (!launched && (find_path(flags.map, "trainer.nnodes") != nullptr ||
                    find_path(flags.map, "trainer.n_gpus_per_node") != nullptr))
    read_node_shape(reading, "trainer.nnodes", "trainer.n_gpus_per_node", 1, 8, &flags, &plan);
  else
    read_node_shape(reading, "nodes", "gpus-per-node", 1, std::nullopt, &flags, &plan);
  fill_engine(reading);
  read_verl_batch(reading, flags, plan);
  allow_smaller_micro_batch(reading, plan);
  pad_sequence(plan.draft);
  read_verl_method(reading);
  report_other_work(reading);
  if (find_inherited_trainer(plan.text).empty()) assume_defaults(reading, plan);
  report_other_actors(reading);
  report_script_values(reading, flags, kVerlKeys, plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer