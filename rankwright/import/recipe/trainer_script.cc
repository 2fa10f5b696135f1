// Reads launch scripts with the flags of Hugging Face's Trainer: those of ms-swift and
// LLaMA-Factory, and of training programs that take the Trainer's arguments. The flags are the keys
// of fine_tuning.cc; what a tool does without a flag is added to them.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/recipe_script.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace {

/// The value of a key that a tool has if a script states none of up to four keys.
struct TrainerDefault {
  std::string_view key, value;
  std::string_view stated[4]{};
};

constexpr TrainerDefault kTunerDefaults[] = {
    {"train_type", "lora", {"train_type", "tuner_type", "sft_type"}},
    {"gradient_checkpointing", "true", {"gradient_checkpointing"}},
    {"bf16", "true", {"bf16", "fp16", "torch_dtype", "dtype"}},
    {"per_device_train_batch_size", "1", {"per_device_train_batch_size", "micro_batch_size"}},
};
constexpr TrainerDefault kFactoryDefaults[] = {
    {"finetuning_type", "lora", {"finetuning_type"}},
    {"per_device_train_batch_size", "8", {"per_device_train_batch_size"}},
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
constexpr TrainerDefault kTrainerDefaults[] = {
    {"per_device_train_batch_size", "8", {"per_device_train_batch_size"}},
};

/// A tool is recognized by a command of its own.
struct TrainerTool {
  std::string_view command;  // empty: any
  std::span<const TrainerDefault> defaults;
  bool one_dtype = false;  // it computes in the format that it loads the weights in
};
constexpr TrainerTool kTools[] = {
    {"swift sft", kTunerDefaults, true},
    {"swift pt", kTunerDefaults, true},
    {"swift rlhf", kTunerDefaults, true},
    {"llm_sft.py", kTunerDefaults, true},
    {"swift/cli/sft.py", kTunerDefaults, true},
    {"swift/cli/rlhf.py", kTunerDefaults, true},
    {"swift/cli/pt.py", kTunerDefaults, true},
    {"llamafactory-cli", kFactoryDefaults},
    {"train_bash.py", kFactoryDefaults},
    {"axolotl train", {}},
    {"axolotl.cli.train", {}},
    {" qlora.py", kQloraDefaults},
    {"/qlora.py", kQloraDefaults},
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

constexpr std::string_view kMethodKeys[] = {"rl", "stage", "rlhf_type", "max_completion_length",
                                            "num_generations"};
constexpr std::string_view kRankKeys[] = {"lora_rank", "lora_r"};
constexpr std::string_view kAdapterDeciders[] = {
    "full_finetuning", "full_finetune",   "use_peft",  "use_lora", "lora_enable", "lora",
    "qlora",           "finetuning_type", "train_type"};
constexpr std::string_view kPairs = "pairs of sequences, and a reference model";
constexpr std::string_view kPairsOnly = "pairs of sequences, without a reference model";
constexpr std::string_view kAdapters = "adapters of the stated rank";
constexpr ProgramName kProgramNames[] = {
    {"simpo", "rl", "simpo", kPairsOnly, kMethodKeys},
    {"orpo", "rl", "orpo", kPairsOnly, kMethodKeys},
    {"dpo", "rl", "dpo", kPairs, kMethodKeys},
    {"peft", "use_peft", "true", kAdapters, kAdapterDeciders, kRankKeys},
    {"lora", "use_peft", "true", kAdapters, kAdapterDeciders, kRankKeys},
};

bool has_key(const MegatronFlags& flags, std::string_view key) {
  return flags.map.find(key) != nullptr ||
         std::any_of(flags.unknown.begin(), flags.unknown.end(),
                     [&](const auto& one) { return one.flag == key; });
}

void add_key(MegatronFlags& flags, std::string_view key, std::string_view value) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  YamlEntry entry{node, node};
  entry.key.scalar = key;
  entry.value.scalar = value;
  flags.map.entries.push_back(std::move(entry));
}

void add_defaults(MegatronFlags& flags, std::string_view text) {
  const auto tool = std::find_if(std::begin(kTools), std::end(kTools), [&](const TrainerTool& one) {
    return text.find(one.command) != std::string_view::npos;
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
  if (!has_key(flags, "gradient_accumulation_steps") && !has_key(flags, "grad_accum_steps"))
    add_key(flags, "gradient_accumulation_steps", "1");
  if (!tool->one_dtype || has_key(flags, "bf16") || has_key(flags, "fp16")) return;
  for (const char* const key : {"torch_dtype", "dtype"})
    if (const YamlNode* const node = flags.map.find(key)) {
      const bool half = node->scalar == "float16" || node->scalar == "fp16";
      const bool wide = node->scalar.find("32") != std::string::npos;
      return add_key(flags, half ? "fp16" : "bf16", wide ? "false" : "true");
    }
}

/// Adds the settings that the name of the training program states, and reports each as assumed.
void add_program_settings(MegatronFlags& flags, PlanFile& plan) {
  const std::string program = lower(flags.program);
  const auto has_any = [&](std::span<const std::string_view> keys) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](std::string_view key) { return has_key(flags, key); });
  };
  for (const ProgramName& row : kProgramNames) {
    const bool named = program.find(row.word) != std::string::npos;
    if (!named || has_any(row.unless) || (!row.needs.empty() && !has_any(row.needs))) continue;
    add_key(flags, row.key, row.value);
    plan.findings.push_back(make_assumption(
        fmt::format("{}, by the name of {}", row.states, make_excerpt(flags.program)), "",
        {.file = plan.name}));
  }
}

/// GRPO's sequence is a prompt, whose limit is the length, and an answer.
void add_answer(ForeignReading& r) {
  Draft& d = r.draft;
  const bool prompt = find_path(r.root, "max_length") != nullptr;
  const std::optional<i64> answer = read_whole_at(r, "max_completion_length", 1, kMaxSequence / 2);
  if (d.method == plan::Method::grpo && prompt && answer)
    add_answer_length(r, *answer, "max_completion_length");
}

/// Returns whether a script runs `accelerate launch`.
bool starts_with_accelerate(std::string_view text) {
  constexpr std::string_view kProgram = "accelerate";
  for (std::size_t at = text.find(kProgram); at != std::string_view::npos;
       at = text.find(kProgram, at + 1)) {
    std::string_view rest = text.substr(at + kProgram.size());
    const std::size_t blanks = rest.find_first_not_of(" \t");
    if (blanks != 0 && blanks != std::string_view::npos &&
        rest.substr(blanks).starts_with("launch"))
      return true;
  }
  return false;
}

/// Returns the ranks that a tool starts on the GPUs that CUDA_VISIBLE_DEVICES lists: ms-swift one
/// unless told otherwise, launchers one per GPU. With several GPUs, a plain program may use them in
/// ways of its own.
std::optional<NodeShape> count_visible_ranks(i64 gpus, std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (gpus == 1 || has("swift sft") || has("swift pt") || has("swift rlhf"))
    return NodeShape{.nodes = 1, .gpus = 1};
  if (has("llamafactory-cli") || starts_with_accelerate(text) || has("deepspeed "))
    return NodeShape{.nodes = 1, .gpus = gpus};
  return std::nullopt;
}

/// Reports one process that has several GPUs: it keeps some of the layers on each.
void report_spread_layers(ForeignReading& r, const MegatronFlags& flags) {
  const i64 gpus = flags.visible_gpus.value_or(1);
  if (gpus == 1 || !r.draft.shape || r.draft.shape->gpus != 1) return;
  report_left_out(r, r.root,
                  fmt::format("one process spreads the layers over {} GPUs, which work one after "
                              "another: estimated on one GPU (NPROC_PER_NODE={} would train "
                              "data-parallel)",
                              gpus, gpus));
}

/// Adds the settings of a command that names a YAML file and overrides it, as LLaMA-Factory's
/// parser does: `train.py run.yaml per_device_train_batch_size=4`.
void add_overrides(MegatronFlags& flags, std::string_view text, const ShellInput& input) {
  constexpr const char* kBatch = "per_device_train_batch_size";
  if (has_key(flags, kBatch) || has_key(flags, "config")) return;
  MegatronFlags overrides = read_overrides(text, input);
  if (!has_key(overrides, kBatch) || overrides.config.scalar.empty()) return;
  for (YamlEntry& entry : overrides.map.entries)
    if (!has_key(flags, entry.key.scalar)) flags.map.entries.push_back(std::move(entry));
  for (MegatronFlags::Unknown& one : overrides.unknown)
    if (!has_key(flags, one.flag)) flags.unknown.push_back(std::move(one));
  YamlEntry config{overrides.config, overrides.config};
  config.key.scalar = "config";
  flags.map.entries.push_back(std::move(config));
}

/// Merges the settings of the YAML file that `--config` names, as TRL's parser does, under those of
/// the script.
void inherit_config(MegatronFlags& flags, const std::string& file, const FileReader& files) {
  const YamlNode* const named = flags.map.find("config");
  if (named == nullptr || !is_yaml_file(named->scalar)) return;
  const Result<std::string> text = read_named_file(files, file, named->scalar);
  Diagnostics ignored;
  const Result<YamlNode> root =
      text ? read_python_yaml(*text, named->scalar, ignored) : Result<YamlNode>(fail(text.error()));
  if (!root) return flags.unread.push_back(named->scalar);
  const YamlNode place = *named;
  for (const YamlEntry& entry : root->entries) {
    if (has_key(flags, entry.key.scalar)) continue;
    YamlEntry here = entry;
    for (YamlNode* const node : {&here.key, &here.value}) {
      node->line = place.line;
      node->column = place.column;
      node->width = place.width;
    }
    flags.map.entries.push_back(std::move(here));
  }
}

void use_underscores(std::string& name) { std::replace(name.begin(), name.end(), '-', '_'); }

}  // namespace

bool claims_trainer_script(std::string_view file, std::string_view text) {
  constexpr std::string_view kMarks[] = {"--per_device_train_batch_size",
                                         "--per-device-train-batch-size",
                                         "swift sft",
                                         "swift pt",
                                         "swift rlhf",
                                         "llamafactory-cli train",
                                         "axolotl train",
                                         "axolotl.cli.train"};
  const bool accelerate = starts_with_accelerate(text) &&
                          (text.find("--model_name_or_path") != std::string_view::npos ||
                           text.find("--config ") != std::string_view::npos);
  return is_script_file(file) &&
         (accelerate ||
          std::any_of(std::begin(kMarks), std::end(kMarks), [&](std::string_view mark) {
            return text.find(mark) != std::string_view::npos;
          }));
}

bool runs_trainer_config(std::string_view text, const std::string& name, const FileReader& files,
                         ShellInput variables) {
  if (text.find(".yaml") == std::string_view::npos && text.find(".yml") == std::string_view::npos)
    return false;
  variables.file = name;
  variables.files = files;
  const MegatronFlags flags = read_megatron_flags(text, variables);
  const std::string& config = flags.config.scalar;
  if (config.empty()) return false;
  const Result<std::string> there =
      read_named_file(with_written_files(files, name, flags), name, config);
  return there && claims_fine_tuning(config, *there);
}

void read_trainer_script(PlanFile& plan, const FileReader& files) {
  ShellInput input = with_usual_folders(plan.variables);
  input.file = plan.name;
  input.files = files;
  MegatronFlags flags = read_megatron_flags(plan.text, input);
  forget_usual_folders(flags);
  for (YamlEntry& entry : flags.map.entries) use_underscores(entry.key.scalar);
  for (MegatronFlags::Unknown& one : flags.unknown) use_underscores(one.flag);
  for (MegatronFlags::Default& one : flags.defaults) use_underscores(one.flag);
  for (std::string& off : flags.off) use_underscores(off);
  if (flags.map.entries.empty() && flags.config.scalar.empty()) return;  // nothing is stated
  const FileReader all_files = with_written_files(files, plan.name, flags);
  add_overrides(flags, plan.text, input);
  if (!flags.config.scalar.empty() && !has_key(flags, "config")) {
    YamlEntry config{flags.config, flags.config};
    config.key.scalar = "config";
    flags.map.entries.push_back(std::move(config));
  }
  inherit_config(flags, plan.name, all_files);
  for (const std::string& off : flags.off)
    if (flags.map.find(off) == nullptr) add_key(flags, off, "false");
  follow_fsdp_config(flags.map, plan.name, all_files, plan.findings);
  add_program_settings(flags, plan);
  add_defaults(flags, plan.text);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, all_files};
  reading.dashes = "--";
  const bool launched = starts_with_accelerate(plan.text);
  read_fine_tuning_tree(reading, plan,
                        launched ? read_accelerate_launch(flags, all_files, plan) : std::nullopt);
  add_answer(reading);
  if (!plan.draft.shape && !plan.draft.world)
    read_node_shape(reading, "nodes", "gpus_per_node", 1, std::nullopt, &flags, &plan);
  if (!plan.draft.shape && !plan.draft.world && !flags.open_ranks && flags.visible_gpus)
    plan.draft.shape = count_visible_ranks(*flags.visible_gpus, plan.text);
  fill_usual_ranks(reading, plan);
  report_spread_layers(reading, flags);
  const YamlNode* const words = flags.map.find("fsdp");
  if (words != nullptr && words->scalar.find("hybrid_shard") != std::string::npos &&
      plan.draft.shape && plan.draft.shape->nodes > 1)
    plan.draft.replicas = plan.draft.shape->nodes;
  report_script_values(reading, flags, fine_tuning_keys(), plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
