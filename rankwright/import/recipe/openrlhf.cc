// Reads OpenRLHF's launch scripts: the training of the actor, or supervised fine-tuning, by
// DeepSpeed. Flags have two names: those of 2023 to 2025 (--zero_stage), and dotted ones
// (--ds.zero_stage).
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace {

void read_openrlhf_zero(ForeignReading& r, const YamlNode& node) {
  constexpr Word<int> kWords[] = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
  r.draft.zero = parse_word(r, node, kWords);
}

void read_openrlhf_bf16(ForeignReading& r, const YamlNode&) {
  r.draft.param_dtype = plan::Dtype::bf16;
}

void read_zpg(ForeignReading& r, const YamlNode& node) {
  if (node.scalar != "1")
    report_left_out(r, node, "zpg: each group of ranks keeps a second copy of the parameters");
}

/// Reads the data of a second loss: a further forward and backward pass per step.
void read_pretrain_data(ForeignReading& r, const YamlNode& node) {
  report_left_out(r, node, "pretrain_data: the passes of the loss on it (ptx) are not estimated");
}

constexpr std::string_view kNoLiger = "estimated without Liger's fused kernels";

constexpr ForeignKey kOpenrlhfKeys[] = {
    {"lora-rank", "job.lora_rank", read_lora_rank},
    {"ds.lora.rank", "job.lora_rank", read_lora_rank},
    {"model.lora.rank", "job.lora_rank", read_lora_rank},
    {"target-modules", "job.lora_modules", read_lora_targets},
    {"ds.lora.target-modules", "job.lora_modules", read_lora_targets},
    {"load-in-4bit", "job.base_dtype", read_quantized<plan::BaseDtype::nf4>},
    {"ds.load-in-4bit", "job.base_dtype", read_quantized<plan::BaseDtype::nf4>},
    {"pretrain", "model", read_named_model},
    {"model.model-name-or-path", "model", read_named_model},
    {"actor.model-name-or-path", "model", read_named_model},
    {"actor-num-nodes", "node_shape"},
    {"actor-num-gpus-per-node", "node_shape"},
    {"actor.num-nodes", "node_shape"},
    {"actor.num-gpus-per-node", "node_shape"},
    {"colocate-actor-ref", "job.ref_model"},
    {"colocate-all-models", "job.ref_model"},
    {"train.colocate-actor-ref", "job.ref_model"},
    {"train.colocate-all", "job.ref_model"},
    {"ref-reward-offload", "job.ref_model"},
    {"ref.offload", "job.ref_model"},
    {"ref-offload", "job.ref_model"},
    {"init-kl-coef", "job.ref_model"},
    {"nodes", "node_shape"},
    {"gpus-per-node", "node_shape"},
    {"zero-stage", "parallelism.zero_stage", read_openrlhf_zero},
    {"ds.zero-stage", "parallelism.zero_stage", read_openrlhf_zero},
    {"pretrain-data", "", read_pretrain_data},
    {"zpg", "", read_zpg},
    {"ds.zpg", "", read_zpg},
    {"train-batch-size", "job.global_batch", whole<&Draft::global_batch, plan::kMaxBatch>},
    {"train.batch-size", "job.global_batch", whole<&Draft::global_batch, plan::kMaxBatch>},
    {"micro-train-batch-size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"train.micro-batch-size", "parallelism.micro_batch",
     whole<&Draft::micro_batch, kMaxMicroBatch>},
    {"use-dynamic-batch", "parallelism.micro_batch"},
    {"train.dynamic-batch-enable", "parallelism.micro_batch"},
    {"train-max-tokens-per-gpu", "parallelism.micro_batch"},
    {"train.max-tokens-per-gpu", "parallelism.micro_batch"},
    {"max-len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"data.max-len", "job.sequence", whole<&Draft::sequence, kMaxSequence>},
    {"prompt-max-len", "job.sequence"},
    {"generate-max-len", "job.sequence"},
    {"bf16", "job.param_dtype", read_openrlhf_bf16},
    {"param-dtype", "job.param_dtype", read_trainer_dtype},
    {"ds.param-dtype", "job.param_dtype", read_trainer_dtype},
    {"grad-accum-dtype", "job.grad_dtype"},
    {"ds.grad-accum-dtype", "job.grad_dtype"},
    {"gradient-checkpointing", "parallelism.recompute", read_full_recompute},
    {"actor.gradient-checkpointing-enable", "parallelism.recompute", read_full_recompute},
    {"model.gradient-checkpointing-enable", "parallelism.recompute", read_full_recompute},
    {"adam-offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"ds.adam-offload", "parallelism.offload.optimizer", read_offload_optimizer},
    {"ring-attn-size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"ds.ring-attn-size", "parallelism.cp_size", whole<&Draft::cp, kMaxContext>},
    {"optim", "job.optimizer", read_optimizer_class},
    {"attn-implementation", "software.attention", read_eager_attention},
    {"ds.attn-implementation", "software.attention", read_eager_attention},
    {"flash-attn", "software.attention"},
    {"packing-samples", "software.attention"},
    {"use-liger-kernel", "", nullptr, false, kNoLiger},
    {"ds.use-liger-kernel", "", nullptr, false, kNoLiger},
    {"ds-tensor-parallel-size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
    {"ds.tensor-parallel-size", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>},
};

/// Flags whose presence decides: which models there are.
constexpr const char* kEstimators[] = {"advantage-estimator", "algo.advantage.estimator"};
constexpr const char* kRewards[] = {"reward-pretrain", "reward.model-name-or-path"};
constexpr const char* kCritics[] = {"critic-pretrain", "critic-num-gpus-per-node",
                                    "critic-num-nodes"};

/// Scripts keep the command in a here-document, `read -r -d '' command <<EOF`: removes these lines,
/// so that the command is read as one. Offsets stay as they are.
std::string open_documents(std::string text) {
  std::string mark;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::size_t here = line.find("<<");
    bool blank = !mark.empty() && line == mark;
    if (blank) mark.clear();
    if (!blank && here != std::string_view::npos && line.find("read ") < here) {
      mark = std::string(line.substr(here + 2));
      std::erase_if(mark, [](char c) { return c == ' ' || c == '\'' || c == '"' || c == '-'; });
      blank = true;
    }
    if (blank) std::fill(text.begin() + i64(begin), text.begin() + i64(end), ' ');
    begin = end + 1;
  }
  return text;
}

std::optional<i64> read_either(ForeignReading& r, std::string_view one, std::string_view other,
                               i64 max) {
  const std::optional<i64> first = read_whole_at(r, one, 1, max);
  return first ? first : read_whole_at(r, other, 1, max);
}

/// Returns whether the penalty of the reference model is off, which is then not loaded.
bool has_no_penalty(const ForeignReading& r) {
  const YamlNode* const penalty = find_path(r.root, "init-kl-coef");
  return penalty != nullptr && penalty->scalar.find_first_of("123456789") == std::string::npos;
}

/// Returns whether the reference model is on the GPUs of the actor: with Ray, it is a process of
/// its own.
bool shares_reference(const ForeignReading& r, bool ray) {
  const auto on = [&](const char* path) { return is_on_at(r.root, path); };
  const bool shared = !ray || on("colocate-actor-ref") || on("colocate-all-models") ||
                      on("train.colocate-actor-ref") || on("train.colocate-all");
  return shared && !has_no_penalty(r) && !on("ref-reward-offload") && !on("ref.offload");
}

/// Reports the models beside the actor that the estimate does not count, by their roles. A critic
/// is trained unless the advantages are estimated in another way.
void report_other_models(ForeignReading& r, const ScriptFlags& flags) {
  constexpr const char* kPlaces[] = {"critic-pretrain", "critic-num-gpus-per-node",
                                     "critic-num-nodes", "reward-pretrain", "pretrain"};
  const bool other = std::any_of(std::begin(kEstimators), std::end(kEstimators), [&](auto* path) {
    const YamlNode* const node = find_path(r.root, path);
    return node != nullptr && node->scalar != "gae";
  });
  std::vector<std::string_view> roles;
  if (!other) roles.emplace_back("the trained critic");
  if (r.draft.ref_model != true && !has_no_penalty(r)) roles.emplace_back("the reference model");
  const auto is_open = [&](std::string_view path) {
    return std::any_of(flags.unknown.begin(), flags.unknown.end(),
                       [&](const ScriptFlags::Unknown& one) { return one.flag == path; });
  };
  if (std::any_of(std::begin(kRewards), std::end(kRewards),
                  [&](const char* path) { return is_on_at(r.root, path) || is_open(path); }))
    roles.emplace_back("the reward model");
  const YamlNode* place = &r.root;
  for (const char* const path : kPlaces)
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && place == &r.root)
      place = node;
  if (!roles.empty())
    report_left_out(r, *place,
                    fmt::format("only the actor is estimated, without {}", fmt::join(roles, ", ")));
}

/// Reports a program that is not one of those whose models are known.
void report_program(ForeignReading& r, std::string_view text) {
  constexpr std::string_view kModule = "openrlhf.cli.";
  constexpr std::string_view kKnown[] = {"train_sft", "train_ppo", "train_dpo", "train_kto",
                                         "train_rm"};
  const std::size_t at = text.find(kModule);
  if (at == std::string_view::npos) return;
  const std::string_view program = text.substr(at + kModule.size());
  if (!program.starts_with("train_") ||
      std::any_of(std::begin(kKnown), std::end(kKnown),
                  [&](std::string_view known) { return program.starts_with(known); }))
    return;
  report_left_out(r, r.root,
                  fmt::format("{}: only the trained model is counted, and its sequences as stated",
                              make_excerpt(program.substr(0, program.find_first_of(" \t\n\\")))));
}

/// A reward model has a head with one output instead of the vocabulary's. Its batch counts pairs.
void read_reward_model(ForeignReading& r) {
  r.draft.loss = plan::Loss::fused_linear;  // no logits
  report_left_out(r, r.root,
                  "train_rm: the head of a reward model has one output; its parameters and work "
                  "are estimated as those of the vocabulary's");
  count_pairs_twice(r.draft);
}

/// Reads the method of the program that `text` names. A device's batch of train_dpo counts pairs;
/// that of train_ppo counts responses.
void read_openrlhf_method(ForeignReading& r, std::string_view text, const ScriptFlags& flags) {
  Draft& d = r.draft;
  if (text.find("train_ppo") != std::string_view::npos) {
    d.method = plan::Method::grpo;
    d.ref_model = shares_reference(r, text.find("train_ppo_ray") != std::string_view::npos);
    report_other_models(r, flags);
  }
  // It counts sequences, not pairs.
  if (text.find("train_kto") != std::string_view::npos) d.ref_model = true;
  report_program(r, text);
  if (text.find("train_rm") != std::string_view::npos) read_reward_model(r);
  if (text.find("train_dpo") == std::string_view::npos) return;
  d.method = plan::Method::dpo;
  for (const char* const path : {"ref-offload", "ref.offload"})
    if (const YamlNode* const node = find_path(r.root, path); node != nullptr && !is_off(*node))
      report_left_out(r, *node, "the reference model is estimated on the GPU");
  count_pairs_twice(d);
}

/// Notes that releases up to 0.8 compute attention in steps unless --flash_attn is given, or packed
/// samples need it (openrlhf/models/actor.py). Dotted flags are those of later ones.
void assume_attention(ForeignReading& r, bool dotted, PlanFile& plan) {
  for (const char* const path : {"attn-implementation", "flash-attn", "packing-samples"})
    if (dotted || find_path(r.root, path) != nullptr) return;
  plan.open.push_back({"software.attention", "flash attention", "set software.attention"});
  r.fields.report(r.root, make_assumption("flash attention: releases up to 0.8 do without it "
                                          "unless --flash_attn is given",
                                          "state --attn_implementation, or --flash_attn"));
}

/// Adds the flags that no row reads: launchers', and those whose presence decides.
void add_keys_read_elsewhere(ForeignReading& r) {
  for (const char* const key : {"nodes", "gpus-per-node", "world-size"})
    r.launcher_keys.emplace_back(key);
  for (const std::span<const char* const> keys :
       {std::span<const char* const>(kEstimators), std::span<const char* const>(kRewards),
        std::span<const char* const>(kCritics)})
    r.launcher_keys.insert(r.launcher_keys.end(), keys.begin(), keys.end());
}

/// Removes the flags of launchers from the settings that are listed as ignored.
void drop_launcher_keys(const ForeignReading& r, PlanFile& plan) {
  std::erase_if(plan.ignored_keys, [&](const std::string& key) {
    return std::find(r.launcher_keys.begin(), r.launcher_keys.end(), key) != r.launcher_keys.end();
  });
}

void fill_openrlhf(ForeignReading& r, const ScriptFlags& flags, PlanFile& plan) {
  Draft& d = r.draft;
  const bool named = flags.module.find("train_") != std::string::npos;
  read_openrlhf_method(r, named ? flags.module : plan.text, flags);
  if (!d.zero) d.zero = 2;
  // Releases with dotted flags train in bf16 unless told otherwise. Those before needed --bf16, or
  // --param_dtype: without one, the format is left open.
  const bool dotted = std::any_of(
      r.root.entries.begin(), r.root.entries.end(),
      [](const YamlEntry& entry) { return entry.key.scalar.find('.') != std::string::npos; });
  if (!d.param_dtype && dotted) d.param_dtype = plan::Dtype::bf16;
  assume_attention(r, dotted, plan);
  // Programs of examples/, before openrlhf.cli, accumulate gradients in fp32; so do releases of
  // openrlhf.cli before 0.5.4.
  const bool early = flags.program.starts_with("train_") && flags.program.ends_with(".py") &&
                     flags.program_file.find("cli/") == std::string::npos;
  d.grad_dtype = early ? plan::Dtype::fp32 : d.param_dtype.value_or(plan::Dtype::bf16);
  if (!early && !dotted)
    plan.open.push_back(
        {"job.grad_dtype", "the default since OpenRLHF 0.5.4", "set grad_dtype in a plan file"});
  for (const char* const path : {"grad-accum-dtype", "ds.grad-accum-dtype"})
    if (const YamlNode* const node = find_path(r.root, path); node && node->scalar == "fp32")
      d.grad_dtype = plan::Dtype::fp32;
  if (!d.optimizer) d.optimizer = plan::Optimizer::adam;
  if (!d.recompute) d.recompute = plan::Recompute::none;
  const std::optional<i64> prompt = read_whole_at(r, "prompt-max-len", 1, kMaxSequence / 2);
  const std::optional<i64> answer = read_whole_at(r, "generate-max-len", 1, kMaxSequence / 2);
  // In these programs, --max_len is that of generation.
  const bool generates = flags.module.find("train_ppo") != std::string::npos ||
                         flags.program_file.find("train_ppo") != std::string::npos;
  if (generates && d.sequence && find_path(r.root, "max-len") != nullptr)
    d.sequence = prompt.value_or(1024) + answer.value_or(1024);
  if (!d.sequence && (prompt || answer)) d.sequence = prompt.value_or(1024) + answer.value_or(1024);
  if (d.cp > 1) d.cp_comm = plan::CpComm::p2p;
  d.sequence_parallel = false;
  pad_sequence(d);
  d.order = mesh::kDefaultOrder;
  d.framework = find_software(rules::Target::deepspeed);
  for (const char* const path : {"use-dynamic-batch", "train.dynamic-batch-enable"})
    if (const YamlNode* const node = find_path(r.root, path); node && !is_off(*node)) {
      const i64 tokens =
          read_either(r, "train-max-tokens-per-gpu", "train.max-tokens-per-gpu", kMaxSequence)
              .value_or(16192);
      fill_packed_micro_batch(r, tokens * d.cp.value_or(1), *node, plan);
    }
}

}  // namespace

bool claims_openrlhf(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  return is_script_file(file) &&
         (has("openrlhf") || has("train_ppo_ray") ||
          (has("--micro_train_batch_size") && !has("--per_device_train_batch_size"))) &&
         (has("zero_stage") || has("train_batch_size") || has("train.batch_size"));
}

void read_openrlhf(PlanFile& plan, const FileReader& files) {
  const ShellInput input = make_script_input(plan, files);
  ScriptFlags flags = read_script_flags(open_documents(plan.text), input);
  forget_usual_folders(flags);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, files};
  reading.dashes = "--";
  reading.launcher_keys = flags.of_launcher;
  add_keys_read_elsewhere(reading);
  reading.known = &KnownKeys::find("openrlhf");
  read_foreign(reading, kOpenrlhfKeys, plan);
  drop_launcher_keys(reading, plan);
  const bool ray = find_path(flags.map, "actor-num-nodes") != nullptr ||
                   find_path(flags.map, "actor-num-gpus-per-node") != nullptr;
  const bool dotted = find_path(flags.map, "actor.num-nodes") != nullptr ||
                      find_path(flags.map, "actor.num-gpus-per-node") != nullptr;
  if (ray)
    read_node_shape(reading, "actor-num-nodes", "actor-num-gpus-per-node", 1, 8, &flags, &plan);
  else if (dotted)
    read_node_shape(reading, "actor.num-nodes", "actor.num-gpus-per-node", 1, 8, &flags, &plan);
  else
    read_node_shape(reading, "nodes", "gpus-per-node", 1, std::nullopt, &flags, &plan);
  if (!ray && !dotted && !plan.draft.shape && !plan.draft.world && flags.visible_gpus)
    plan.draft.shape = NodeShape{.nodes = 1, .gpus = flags.visible_gpus->count};  // of `deepspeed`
  fill_openrlhf(reading, flags, plan);
  report_script_values(reading, flags, kOpenrlhfKeys, plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
