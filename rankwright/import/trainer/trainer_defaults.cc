// The defaults of tools and programs of the Trainer, and the settings that the names of programs
// state.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

/// The value of a key that a tool has if a script states none of up to four keys.
struct TrainerDefault {
  std::string_view key, value;
  std::string_view stated[4]{};
};

constexpr TrainerDefault kSwiftDefaults[] = {
    {"train_type", "lora", {"train_type", "tuner_type", "sft_type"}},
    {"gradient_checkpointing", "true", {"gradient_checkpointing"}},
    {"bf16", "true", {"bf16", "fp16", "torch_dtype", "dtype"}},
    {"per_device_train_batch_size", "1", {"per_device_train_batch_size", "micro_batch_size"}},
};
constexpr TrainerDefault kFactoryDefaults[] = {
    {"finetuning_type", "lora", {"finetuning_type"}},
    {"per_device_train_batch_size", "8", {"per_device_train_batch_size"}},
};
/// Before 0.9, when its program was train_bash.py.
constexpr TrainerDefault kEarlyFactoryDefaults[] = {
    {"finetuning_type", "lora", {"finetuning_type"}},
    {"per_device_train_batch_size", "8", {"per_device_train_batch_size"}},
    {"cutoff_len", "1024", {"cutoff_len"}},
};
constexpr TrainerDefault kQloraDefaults[] = {
    {"use_lora", "true", {"full_finetune", "use_lora"}},
    {"bits", "4", {"full_finetune", "bits"}},
    {"lora_r", "64", {"lora_r"}},
    {"lora_target_modules", "all", {"lora_target_modules"}},
    {"source_max_len", "1024", {"source_max_len"}},
    {"target_max_len", "256", {"target_max_len"}},
    {"per_device_train_batch_size", "1", {"per_device_train_batch_size"}},
    {"gradient_accumulation_steps", "16", {"gradient_accumulation_steps"}},
    {"gradient_checkpointing", "true", {"gradient_checkpointing"}},
    {"optim", "paged_adamw_32bit", {"optim"}},
};
constexpr TrainerDefault kFastChatDefaults[] = {
    {"use_lora", "true", {"use_lora"}},
    {"lora_r", "8", {"lora_r"}},
    {"lora_target_modules", "q_proj,v_proj", {"lora_target_modules"}},
    {"per_device_train_batch_size", "8", {"per_device_train_batch_size"}},
};
constexpr TrainerDefault kTrainerDefaults[] = {
    {"per_device_train_batch_size", "8", {"per_device_train_batch_size"}},
};

/// A tool is recognized by a command of its own.
struct TrainerTool {
  std::string_view command;  // empty: any
  std::span<const TrainerDefault> defaults;
};
constexpr TrainerTool kTools[] = {
    {"swift sft", kSwiftDefaults},
    {"swift pt", kSwiftDefaults},
    {"swift rlhf", kSwiftDefaults},
    {"llm_sft.py", kSwiftDefaults},
    {"swift/cli/sft.py", kSwiftDefaults},
    {"swift/cli/rlhf.py", kSwiftDefaults},
    {"swift/cli/pt.py", kSwiftDefaults},
    {"llamafactory-cli", kFactoryDefaults},
    {"train_bash.py", kEarlyFactoryDefaults},
    {"axolotl train", {}},
    {"axolotl.cli.train", {}},
    {" qlora.py", kQloraDefaults},
    {"/qlora.py", kQloraDefaults},
    {"fastchat/train/train_lora.py", kFastChatDefaults},
    {"", kTrainerDefaults},
};

/// A setting that the name of a program states if no flag does.
struct ProgramName {
  std::string_view word;  // in the name of the file
  std::string_view key, value;
  std::string_view states;                    // for the user
  std::span<const std::string_view> unless;   // keys that decide instead
  std::span<const std::string_view> needs{};  // the name states nothing without one of these keys
};

constexpr std::string_view kAccumulationKeys[] = {"gradient_accumulation_steps", "grad_accum_steps",
                                                  "accumulation_steps", "global_batch_size"};
constexpr std::string_view kMethodKeys[] = {"rl", "stage", "rlhf_type", "max_completion_length",
                                            "num_generations"};
constexpr std::string_view kAdapterDeciders[] = {
    "full_finetuning", "full_finetune",   "use_peft",  "use_lora", "lora_enable", "lora",
    "qlora",           "finetuning_type", "train_type"};
constexpr std::string_view kCompletions = "completions of GRPO";
constexpr std::string_view kPairs = "pairs of sequences, and a reference model";
constexpr std::string_view kPairsOnly = "pairs of sequences, without a reference model";
constexpr std::string_view kAdapters = "adapters of the stated rank";
constexpr std::string_view kUsualAdapters = "adapters of PEFT's usual rank";
constexpr ProgramName kProgramNames[] = {
    {"simpo", "rl", "simpo", kPairsOnly, kMethodKeys},
    {"orpo", "rl", "orpo", kPairsOnly, kMethodKeys},
    {"grpo", "rl", "grpo", kCompletions, kMethodKeys},
    {"dpo", "rl", "dpo", kPairs, kMethodKeys},
    {"peft", "use_lora", "true", kAdapters, kAdapterDeciders, kRankKeys},
    {"lora", "use_lora", "true", kAdapters, kAdapterDeciders, kRankKeys},
    {"_lora.py", "use_lora", "true", kUsualAdapters, kAdapterDeciders},
};

}  // namespace

bool has_key(const ScriptFlags& flags, std::string_view key) {
  return flags.map.find(key) != nullptr ||
         std::any_of(flags.unknown.begin(), flags.unknown.end(),
                     [&](const auto& one) { return one.flag == key; });
}

bool states_any(const ScriptFlags& flags, std::span<const std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return has_key(flags, key); });
}

void add_key(ScriptFlags& flags, std::string_view key, std::string_view value) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  YamlEntry entry{node, node};
  entry.key.scalar = key;
  entry.value.scalar = value;
  flags.map.entries.push_back(std::move(entry));
}

void add_tool_defaults(ScriptFlags& flags, std::string_view command, bool own) {
  const auto tool = std::find_if(std::begin(kTools), std::end(kTools), [&](const TrainerTool& one) {
    const bool program = one.command == "llm_sft.py" || one.command == "train_bash.py";
    return !(own && program) && command.find(one.command) != std::string_view::npos;
  });
  // Generation has degrees of its own.
  std::erase_if(flags.map.entries,
                [](const YamlEntry& entry) { return entry.key.scalar == "tensor_parallel_size"; });
  for (const TrainerDefault& row : tool->defaults)
    if (std::none_of(std::begin(row.stated), std::end(row.stated),
                     [&](std::string_view key) { return !key.empty() && has_key(flags, key); }))
      add_key(flags, row.key, row.value);
  // FSDP with settings in a file that is not known.
  if (has_key(flags, "fsdp") && flags.map.find("fsdp") == nullptr)
    add_key(flags, "fsdp", "full_shard");
  const bool swift = tool->defaults.data() == kSwiftDefaults;
  const bool accumulates = states_any(flags, kAccumulationKeys);
  // ms-swift's default depends on the ranks (trainer_script.cc).
  if (!accumulates && !swift) add_key(flags, "gradient_accumulation_steps", "1");
  if (!swift) return;
  constexpr std::string_view kSecondRelease[] = {"model_id_or_path", "sft_type", "batch_size"};
  if (states_any(flags, kSecondRelease) && !has_key(flags, "max_length"))
    add_key(flags, "max_length", "2048");  // until 3.0
  // The model's name for itself, not that of a checkpoint.
  std::erase_if(flags.map.entries,
                [](const YamlEntry& entry) { return entry.key.scalar == "model_name"; });
  // It computes in the format that it loads the weights in.
  if (has_key(flags, "bf16") || has_key(flags, "fp16")) return;
  for (const char* const key : {"torch_dtype", "dtype"})
    if (const YamlNode* const node = flags.map.find(key)) {
      const bool half = node->scalar == "float16" || node->scalar == "fp16";
      const bool wide = node->scalar.find("32") != std::string::npos;
      return add_key(flags, half ? "fp16" : "bf16", wide ? "false" : "true");
    }
}

std::vector<std::string> list_name_parts(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::vector<std::string> names{path.substr(slash + 1)};
  if (slash == std::string::npos || slash == 0 || names[0].find("sft") != std::string::npos)
    return names;
  names.push_back(path.substr(path.rfind('/', slash - 1) + 1));
  return names;
}

void add_named_settings(ScriptFlags& flags, const std::vector<std::string>& names, bool code_known,
                        PlanFile& plan) {
  for (const std::string& name : names)
    for (const ProgramName& row : kProgramNames) {
      const bool named = lower(name).find(row.word) != std::string::npos;
      const bool code_decides = code_known && row.states == kUsualAdapters;
      if (!named || code_decides || states_any(flags, row.unless) ||
          (!row.needs.empty() && !states_any(flags, row.needs)))
        continue;
      add_key(flags, row.key, row.value);
      plan.findings.push_back(
          make_assumption(fmt::format("{}, by the name of {}", row.states, make_excerpt(name)), "",
                          {.file = plan.name}));
    }
}

}  // namespace rankwright::importer
