// Reads launch scripts with the flags of Hugging Face's Trainer: those of ms-swift and
// LLaMA-Factory, and of training programs that take the Trainer's arguments. The flags are the keys
// of fine_tuning.cc; what a tool does without a flag is added to them.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/recipe_script.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/plan/hub_model.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

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

/// Returns whether a command runs ms-swift, which starts one process unless told otherwise.
bool runs_swift(std::string_view command) {
  constexpr std::string_view kCommands[] = {"swift sft ", "swift pt ", "swift rlhf "};
  return std::any_of(std::begin(kCommands), std::end(kCommands), [&](std::string_view one) {
    return command.find(one) != std::string_view::npos;
  });
}

/// Returns whether a command starts one process per GPU.
bool runs_launcher(std::string_view command) {
  constexpr std::string_view kLaunchers[] = {"llamafactory-cli",  "deepspeed ", "torchrun",
                                             "torch.distributed", "axolotl",    "srun ",
                                             "mpirun ",           "mpiexec "};
  return starts_with_accelerate(command) ||
         std::any_of(std::begin(kLaunchers), std::end(kLaunchers), [&](std::string_view launcher) {
           return command.find(launcher) != std::string_view::npos;
         });
}

/// Fills the ranks of a command that states none: a launcher starts one per GPU that
/// CUDA_VISIBLE_DEVICES lists, and ms-swift one. A plain program may use several GPUs in ways of
/// its own: their number is assumed.
void fill_visible_ranks(const ScriptFlags& flags, std::string_view command, PlanFile& plan) {
  Draft& draft = plan.draft;
  const i64 gpus = flags.visible_gpus ? flags.visible_gpus->count : 1;
  const bool launched = runs_launcher(command);
  const bool sure = flags.visible_gpus && flags.visible_gpus->default_of.empty();
  const bool spreads = has_key(flags, kSpreadMark) && sure && gpus > 1;
  if ((runs_swift(command) || spreads) && !launched)
    draft.shape = NodeShape{.nodes = 1, .gpus = 1};
  else if (sure && (launched || gpus == 1))
    draft.shape = NodeShape{.nodes = 1, .gpus = gpus};
  else if (flags.visible_gpus || (!launched && command.find("python") != std::string_view::npos))
    plan.usual_world = gpus;
}

/// Reports one process that has several GPUs: it keeps some of the layers on each. A launcher's
/// process has one GPU.
void report_spread_layers(ForeignReading& r, const ScriptFlags& flags, std::string_view command) {
  const i64 gpus = flags.visible_gpus ? flags.visible_gpus->count : 1;
  if (runs_launcher(command) || gpus == 1 || !r.draft.shape || r.draft.shape->gpus != 1) return;
  report_left_out(r, r.root,
                  fmt::format("one process spreads the layers over {} GPUs, which work one after "
                              "another: estimated on one GPU (NPROC_PER_NODE={} would train "
                              "data-parallel)",
                              gpus, gpus));
}

/// ms-swift accumulates until a step has 16 sequences, unless told otherwise
/// (swift/trainers/arguments.py); those of GRPO are completions, and not accumulated.
void fill_swift_accumulation(ForeignReading& r, const ScriptFlags& flags) {
  constexpr i64 kBatch = 16;
  Draft& d = r.draft;
  if (!is_swift(r) || has_key(flags, "gradient_accumulation_steps")) return;
  const i64 ranks = d.shape ? d.shape->nodes * d.shape->gpus : d.world.value_or(1);
  const i64 at_once = std::max<i64>(1, ranks * d.micro_batch.value_or(1));
  d.accumulation = d.method == plan::Method::grpo ? 1 : (kBatch + at_once - 1) / at_once;
}

/// Adds the settings of a command that names a YAML file and overrides it, as LLaMA-Factory's
/// parser does: `train.py run.yaml per_device_train_batch_size=4`.
void add_overrides(ScriptFlags& flags, std::string_view text, const ShellInput& input) {
  constexpr const char* kBatch = "per_device_train_batch_size";
  if (has_key(flags, kBatch) || has_key(flags, "config")) return;
  ScriptFlags overrides = read_overrides(text, input);
  if (!has_key(overrides, kBatch) || overrides.config.scalar.empty()) return;
  for (YamlEntry& entry : overrides.map.entries)
    if (!has_key(flags, entry.key.scalar)) flags.map.entries.push_back(std::move(entry));
  for (ScriptFlags::Unknown& one : overrides.unknown)
    if (!has_key(flags, one.flag)) flags.unknown.push_back(std::move(one));
  YamlEntry config{overrides.config, overrides.config};
  config.key.scalar = "config";
  flags.map.entries.push_back(std::move(config));
}

/// Merges the settings of the YAML file that `--config` names, as TRL's parser does, under those of
/// the script. Returns false if there is one that cannot be read.
bool inherit_config(ScriptFlags& flags, const std::string& file, const FileReader& files) {
  const YamlNode* const named = flags.map.find("config");
  if (named == nullptr || !is_yaml_file(named->scalar)) return true;
  const Result<std::string> text = read_named_config(files, file, named->scalar);
  Diagnostics ignored;
  Result<YamlNode> root =
      text ? read_python_yaml(*text, named->scalar, ignored) : Result<YamlNode>(fail(text.error()));
  if (!root) return false;
  lift_sections(*root);
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
  return true;
}

/// Takes the first model that is known under a name of the program's own
/// (`--llm_model_name_or_path`) for the trained one, if no usual flag names it.
void find_own_model(ScriptFlags& flags, PlanFile& plan) {
  constexpr std::string_view kEnd = "_model_name_or_path";
  for (const YamlEntry& entry : flags.map.entries)
    if (is_model_key(entry.key.scalar)) return;
  for (YamlEntry& entry : flags.map.entries) {
    if (!entry.key.scalar.ends_with(kEnd) || !find_hub_model(entry.value.scalar)) continue;
    plan.findings.push_back(
        make_assumption(fmt::format("--{} names the trained model", make_excerpt(entry.key.scalar)),
                        "--model NAME", location(entry.key, plan.name)));
    entry.key.scalar = "model_name_or_path";
    return;
  }
}

/// Spells out abbreviated flags, which argparse accepts if no other flag begins so.
void spell_out(ScriptFlags& flags) {
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"per_device_train", "per_device_train_batch_size"},
      {"gradient_accumulation", "gradient_accumulation_steps"},
      {"gradient_accum", "gradient_accumulation_steps"},
      {"model_name_or", "model_name_or_path"}};
  for (YamlEntry& entry : flags.map.entries)
    for (const auto& [shortest, flag] : kFlags) {
      std::string& key = entry.key.scalar;
      if (key.size() < flag.size() && key.starts_with(shortest) && flag.starts_with(key) &&
          !has_key(flags, flag) && !has_row(fine_tuning_keys(), key))
        key = flag;
    }
}

/// Adds the settings that a program of its own takes as overrides of a config, by their last names:
/// `train.py sft.max_length=4096`. Hydra has them instead of flags.
void add_dotted_overrides(ScriptFlags& flags, std::string_view text, const ShellInput& input,
                          PlanFile& plan) {
  const ScriptFlags overrides = read_overrides(text, input);
  std::vector<std::string> added;
  for (const YamlEntry& entry : overrides.map.entries) {
    const std::string& path = entry.key.scalar;
    const std::string_view key = std::string_view(path).substr(path.rfind('.') + 1);
    if (path.find('.') == std::string::npos || has_key(flags, key) ||
        !has_row(fine_tuning_keys(), key))
      continue;
    YamlEntry here = entry;
    here.key.scalar = key;
    flags.map.entries.push_back(std::move(here));
    if (added.size() < 8) added.push_back(make_excerpt(path));
  }
  if (!added.empty())
    plan.findings.push_back(
        make_assumption(fmt::format("overrides are read by the last part of their names: {}",
                                    fmt::join(added, ", ")),
                        "", {.file = plan.name}));
}

/// Adds the adapters that a file states, as BELLE's programs take them: `--lora_config lora.json`.
void add_adapter_file(ScriptFlags& flags, const FileReader& files, PlanFile& plan) {
  constexpr const char* kFiles[] = {"lora_config", "lora_config_file", "peft_config"};
  constexpr std::pair<const char*, const char*> kKeys[] = {
      {"lora_r", "lora_r"},
      {"r", "lora_r"},
      {"lora_rank", "lora_r"},
      {"lora_target_modules", "lora_target_modules"},
      {"target_modules", "lora_target_modules"}};
  for (const char* const key : kFiles) {
    const YamlNode* const named = flags.map.find(key);
    if (named == nullptr || named->kind != YamlNode::Kind::scalar) continue;
    const std::string file = named->scalar;
    if (!file.ends_with(".json") && !is_yaml_file(file)) continue;
    const Result<std::string> text = read_named_config(files, plan.name, file);
    Diagnostics ignored;
    const Result<YamlNode> root =
        text ? read_python_yaml(*text, file, ignored) : Result<YamlNode>(fail(text.error()));
    if (!root) {
      plan.findings.push_back(make_assumption(
          fmt::format("adapters of a usual rank: {} cannot be read", make_path_excerpt(file)),
          "put the file beside the script", location(*named, plan.name)));
      continue;
    }
    for (const auto& [stated, flag] : kKeys)
      if (const YamlNode* const value = root->find(stated); value && !has_key(flags, flag)) {
        std::string words = value->scalar;
        for (const YamlNode& item : value->items) words += (words.empty() ? "" : ",") + item.scalar;
        add_key(flags, flag, words);
      }
  }
}

/// Reports that the file with the settings cannot be read. Without it, a script that states no
/// model has nothing to estimate.
bool report_unread_config(const ScriptFlags& flags, PlanFile& plan) {
  const bool model =
      std::any_of(flags.map.entries.begin(), flags.map.entries.end(),
                  [](const YamlEntry& entry) { return is_model_key(entry.key.scalar); });
  const std::string config = make_path_excerpt(flags.map.find("config")->scalar);
  constexpr const char* kHint = "put the file beside the script";
  if (model) {
    plan.findings.push_back(
        make_assumption(fmt::format("defaults for the settings in {}: it cannot be read", config),
                        kHint, {.file = plan.name}));
    return true;
  }
  plan.findings.push_back({.code = "RW0603",
                           .message = "no training settings in this script",
                           .detail = fmt::format("they are in {}, which cannot be read", config),
                           .hint = kHint,
                           .where = {.file = plan.name}});
  return false;
}

/// Returns a config.json as one of LLaMA; empty if it does not state the shapes of one.
std::string take_for_llama(std::string_view text) {
  constexpr std::string_view kKey = "\"model_type\"";
  for (const char* const shape : {"hidden_size", "intermediate_size", "num_hidden_layers",
                                  "num_attention_heads", "vocab_size"})
    if (text.find(shape) == std::string_view::npos) return {};
  const std::size_t key = text.find(kKey);
  if (key == std::string_view::npos) return {};
  const std::size_t begin = text.find('"', key + kKey.size());
  const std::size_t end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  return std::string(text.substr(0, begin)) + "\"llama" + std::string(text.substr(end));
}

/// Returns the model whose config.json lies in the folder that a flag names; nothing if none can be
/// read. One of a type of its own is taken for LLaMA's, and reported.
std::optional<model::Model> read_local_model(const ScriptFlags& flags, const std::string& file,
                                             const FileReader& files, Diagnostics& findings) {
  for (const char* const key : {"config_name", "model_name_or_path", "model"}) {
    const YamlNode* const named = flags.map.find(key);
    if (named == nullptr || named->scalar.empty()) continue;
    const bool config = named->scalar.ends_with(".json");
    const std::string name = config ? named->scalar : named->scalar + "/config.json";
    const Result<std::string> text = read_named_file(files, file, name);
    if (!text) continue;
    if (Result<model::Model> model = read_hf_config(*text, name)) return std::move(*model);
    Result<model::Model> model = read_hf_config(take_for_llama(*text), name);
    if (!model) continue;
    findings.push_back(make_assumption(
        fmt::format("the layers of LLaMA for the model_type in {}", make_path_excerpt(name)),
        "--model FILE", {.file = file}));
    return std::move(*model);
  }
  return std::nullopt;
}

void use_underscores(std::string& name) { std::replace(name.begin(), name.end(), '-', '_'); }

}  // namespace

bool claims_trainer_script(std::string_view file, std::string_view text) {
  constexpr std::string_view kMarks[] = {"--per_device_train_batch_size",
                                         "--per-device-train-batch-size",
                                         "swift sft ",
                                         "swift pt ",
                                         "swift rlhf ",
                                         "llamafactory-cli train",
                                         "axolotl train",
                                         "axolotl.cli.train",
                                         "trl sft ",
                                         "trl dpo ",
                                         "trl grpo ",
                                         "trl kto ",
                                         "trl orpo ",
                                         "trl reward "};
  // Programs of their own name a model, and state how it is trained.
  constexpr std::string_view kModels[] = {
      "--model_name_or_path", "--base_model",       "--model_path", "--model_id",
      "--model_name",         "--pretrained_model", "--model_dir"};
  constexpr std::string_view kTraining[] = {"--learning_rate",
                                            "--num_train_epochs",
                                            "--gradient_accumulation",
                                            "--train_batch_size",
                                            "--deepspeed",
                                            "--ds_config",
                                            "--lora_r",
                                            "--use_lora",
                                            "--use_peft",
                                            "--num_epochs",
                                            "--gradient_checkpointing"};
  const auto has_any = [&](std::span<const std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return text.find(word) != std::string_view::npos;
    });
  };
  const bool accelerate = starts_with_accelerate(text) &&
                          (has_any(kModels) || text.find("--config ") != std::string_view::npos ||
                           text.find("--config_file") != std::string_view::npos);
  return is_script_file(file) &&
         (accelerate || has_any(kMarks) || (has_any(kModels) && has_any(kTraining)));
}

bool runs_trainer_config(std::string_view text, const std::string& name, const FileReader& files,
                         ShellInput variables) {
  if (text.find(".yaml") == std::string_view::npos && text.find(".yml") == std::string_view::npos)
    return false;
  variables.file = name;
  variables.files = files;
  const ScriptFlags flags = read_script_flags(text, variables);
  const std::string& config = flags.config.scalar;
  if (config.empty()) return false;
  const Result<std::string> there =
      read_named_file(with_written_files(files, name, flags), name, config);
  return there && claims_fine_tuning(config, *there);
}

namespace {

/// Reads the launch script `script`, which is the text of the plan or one that runs it.
void read_launch(PlanFile& plan, std::string_view script, const FileReader& files) {
  const ShellInput input = make_script_input(plan, files);
  ScriptFlags flags = read_script_flags(script, input);
  forget_usual_folders(flags);
  for (YamlEntry& entry : flags.map.entries) use_underscores(entry.key.scalar);
  for (ScriptFlags::Unknown& one : flags.unknown) use_underscores(one.flag);
  for (ScriptFlags::Default& one : flags.defaults) use_underscores(one.flag);
  for (std::string& off : flags.off) use_underscores(off);
  const bool program = !flags.program_file.empty() || flags.module.ends_with(".py");
  if (flags.map.entries.empty() && flags.config.scalar.empty() && !program) return;
  const FileReader all_files = with_written_files(files, plan.name, flags);
  const bool from_scratch = has_key(flags, "config_name") && !has_key(flags, "model_name_or_path");
  if (from_scratch)  // the weights are not loaded, in whatever format
    std::erase_if(flags.map.entries,
                  [](const YamlEntry& entry) { return entry.key.scalar == "torch_dtype"; });
  add_overrides(flags, script, input);
  add_dotted_overrides(flags, script, input, plan);
  spell_out(flags);
  find_own_model(flags, plan);
  if (!flags.config.scalar.empty() && !has_key(flags, "config")) {
    YamlEntry config{flags.config, flags.config};
    config.key.scalar = "config";
    flags.map.entries.push_back(std::move(config));
  }
  const bool inherited = inherit_config(flags, plan.name, all_files);
  if (!inherited && !report_unread_config(flags, plan)) return;
  for (const std::string& off : flags.off)
    if (flags.map.find(off) == nullptr) add_key(flags, off, "false");
  follow_fsdp_config(flags.map, plan.name, all_files, plan.findings);
  const std::string command = flags.command.empty() ? fmt::format(" {}", script) : flags.command;
  std::vector<std::string> names{flags.program};
  if (const std::size_t trl = command.find(" trl "); trl != std::string::npos)
    names.push_back(command.substr(trl + 1, command.find(' ', trl + 5) - trl - 1));
  if (const YamlNode* const config = flags.map.find("config"))
    for (std::string& name : list_name_parts(config->scalar)) names.push_back(std::move(name));
  add_adapter_file(flags, all_files, plan);
  const bool code_known = add_code_settings(flags, all_files, plan);
  add_named_settings(flags, names, code_known, plan);
  add_tool_defaults(flags, command, code_known);
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, all_files};
  reading.dashes = "--";
  const bool launched = starts_with_accelerate(command);
  read_fine_tuning_tree(reading, plan,
                        launched ? read_accelerate_launch(flags, all_files, plan) : std::nullopt);
  if (!plan.draft.model)
    plan.draft.model = read_local_model(flags, plan.name, all_files, plan.findings);
  if (!plan.draft.shape && !plan.draft.world)
    read_node_shape(reading, "nodes", "gpus_per_node", 1, std::nullopt, &flags, &plan);
  if (!plan.draft.shape && !plan.draft.world && !flags.open_ranks)
    fill_visible_ranks(flags, command, plan);
  fill_usual_ranks(reading, plan);
  report_spread_layers(reading, flags, command);
  fill_swift_accumulation(reading, flags);
  const YamlNode* const words = flags.map.find("fsdp");
  if (words != nullptr && words->scalar.find("hybrid_shard") != std::string::npos &&
      plan.draft.shape && plan.draft.shape->nodes > 1)
    plan.draft.replicas = plan.draft.shape->nodes;
  report_script_values(reading, flags, fine_tuning_keys(), plan);
  plan.keys = fields.keys();
}

}  // namespace

void read_trainer_script(PlanFile& plan, const FileReader& files) {
  read_launch(plan, plan.text, files);
}

bool claims_trainer_program(std::string_view file, std::string_view text) {
  return file.ends_with(".py") && constructs_arguments(text);
}

void read_trainer_program(PlanFile& plan, const FileReader& files) {
  const std::string name = plan.name.substr(plan.name.rfind('/') + 1);
  const FileReader with_itself = [&](const std::string& file) {
    return file == plan.name ? Result<std::string>(plan.text) : files(file);
  };
  read_launch(plan, "python -u " + name + "\n", with_itself);
}

}  // namespace rankwright::importer
