// Launch scripts of programs for Megatron-Bridge and NeMo 2.0 (bridge_python.cc): the script has
// the ranks, passes options, and may override settings of the config.
#include <algorithm>
#include <map>

#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/script/script_flags.h"
#include "rankwright/import/script/script_parts.h"

namespace rankwright::importer {
namespace {

/// A program that a script runs, and what the script states beside it.
struct LaunchedProgram {
  ScriptFlags launch{}, overrides{};
  std::string file{}, text{};
};

/// Adds the leaves of a map as overrides, unless they are stated.
void add_leaves(ScriptFlags& overrides, const YamlNode& map, const std::string& path,
                const YamlNode& place) {
  constexpr std::size_t kMaxSettings = 1000;
  for (const YamlEntry& entry : map.entries) {
    const std::string inner = path + entry.key.scalar;
    if (entry.value.kind == YamlNode::Kind::map) {
      add_leaves(overrides, entry.value, inner + ".", place);
    } else if (overrides.map.find(inner) == nullptr &&
               overrides.map.entries.size() < kMaxSettings) {
      YamlEntry here = entry;
      here.key.scalar = inner;
      move_to(here.key, place);
      move_to(here.value, place);
      overrides.map.entries.push_back(std::move(here));
    }
  }
}

/// Adds the settings of the config that the command names, if it does: those of the program, which
/// the command overrides. Returns false if it cannot be read.
bool add_config(ScriptFlags& overrides, const std::string& script, const FileReader& files) {
  if (overrides.config.scalar.empty()) return true;
  const YamlNode place = overrides.config;
  const Result<std::string> text = read_named_config(files, script, place.scalar);
  Diagnostics ignored;
  const Result<YamlNode> config =
      text ? read_python_yaml(*text, place.scalar, ignored) : Result<YamlNode>(fail(text.error()));
  if (!config) return false;
  add_leaves(overrides, *config, "", place);
  return true;
}

std::optional<LaunchedProgram> find_launched_program(const PlanFile& script,
                                                     const ShellInput& input) {
  const auto has = [&](std::string_view mark) {
    return script.text.find(mark) != std::string::npos;
  };
  // Flags of Megatron-LM are those of another program.
  if (!has(".py") || has("--num-layers") || has("--tensor-model-parallel-size") ||
      !is_script_file(script.name) || !input.files)
    return std::nullopt;
  LaunchedProgram found{.launch = read_script_flags(script.text, input)};
  found.file = found.launch.program_file.empty() ? found.launch.module : found.launch.program_file;
  if (!found.file.ends_with(".py")) return std::nullopt;
  Result<std::string> text = read_named_file(input.files, script.name, found.file);
  if (!text || !is_bridge_program(found.file, *text)) return std::nullopt;
  found.text = std::move(*text);
  found.overrides = read_overrides(script.text, input);
  if (!add_config(found.overrides, script.name, input.files)) return std::nullopt;
  return found;
}

/// Returns the input of the program: the options that the script passes to it.
ShellInput make_program_input(const LaunchedProgram& launched, const ShellInput& input) {
  ShellInput options = input;
  options.file = launched.file;
  for (const YamlEntry& entry : launched.launch.map.entries) {
    std::string name = entry.key.scalar;
    std::replace(name.begin(), name.end(), '-', '_');
    options.variables.emplace(std::move(name), entry.value.scalar);
  }
  const std::optional<ScriptFlags::OpenRanks>& open = launched.launch.open_ranks;
  if (open && open->nodes) options.variables.emplace("nodes", std::to_string(*open->nodes));
  if (open && open->gpus) options.variables.emplace("gpus_per_node", std::to_string(*open->gpus));
  return options;
}

/// Replaces the settings with one of these names by another.
void replace_settings(ScriptFlags& flags, std::initializer_list<std::string_view> names,
                      YamlEntry entry) {
  std::erase_if(flags.map.entries, [&](const YamlEntry& old) {
    return std::find(names.begin(), names.end(), name_flag(old.key.scalar)) != names.end();
  });
  flags.map.entries.push_back(std::move(entry));
}

/// The options of Megatron-Bridge's scripts/performance/setup_experiment.py, and the settings that
/// they are.
struct ExperimentOption {
  std::string_view brief, name, setting;
};
constexpr ExperimentOption kExperimentOptions[] = {
    {"-tp", "--tensor_model_parallel_size", "model.tensor_model_parallel_size"},
    {"-pp", "--pipeline_model_parallel_size", "model.pipeline_model_parallel_size"},
    {"-cp", "--context_parallel_size", "model.context_parallel_size"},
    {"-vp", "--virtual_pipeline_model_parallel_size", "model.virtual_pipeline_model_parallel_size"},
    {"-ep", "--expert_model_parallel_size", "model.expert_model_parallel_size"},
    {"-et", "--expert_tensor_parallel_size", "model.expert_tensor_parallel_size"},
    {"-mb", "--micro_batch_size", "train.micro_batch_size"},
    {"-gb", "--global_batch_size", "train.global_batch_size"},
    {"-sl", "--seq_length", "model.seq_length"},
    {"-gn", "--gpus_per_node", "gpus-per-node"},
    {"-ng", "--num_gpus", "world-size"},
    {"-mr", "--model_recipe_name", "recipe"},
    {"-m", "--model_name", "recipe"},  // until 2026, with the size apart
    {"", "--model_size", "size"},
    {"", "--task", "task"},
    {"-c", "--compute_dtype", "dtype"},
};

constexpr std::string_view kExperiment = "setup_experiment.py";

/// Returns the command that starts an experiment; nullptr if there is none.
const ShellCommand* find_experiment(const ShellScript& script) {
  for (const ShellCommand& command : script.commands)
    for (const ShellWord& word : command.words)
      if (word.text.ends_with(kExperiment)) return &command;
  return nullptr;
}

/// Reads an experiment: what its options leave out is that of a recipe for one type of GPU.
ScriptFlags read_experiment(const ShellCommand& command, const ShellInput& input,
                            const std::string& text, Diagnostics& findings) {
  ScriptFlags flags;
  flags.map.kind = YamlNode::Kind::map;
  const LocationIndex locations(text);
  std::map<std::string_view, std::string> words;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    const std::size_t equals = word.text.find('=');
    const std::string_view option = std::string_view(word.text).substr(0, equals);
    const auto row =
        std::find_if(std::begin(kExperimentOptions), std::end(kExperimentOptions),
                     [&](const ExperimentOption& one) {
                       return option == one.name || (!one.brief.empty() && option == one.brief);
                     });
    if (row == std::end(kExperimentOptions)) continue;
    const bool apart = equals == std::string::npos;
    if (apart && i + 1 >= command.words.size()) break;
    const ShellWord& stated = apart ? command.words[i + 1] : word;
    YamlNode value = locations.node(stated.at, stated.width, "");
    value.scalar = apart ? stated.text : word.text.substr(equals + 1);
    if (!stated.unknown.empty()) {
      flags.unknown.push_back({name_flag(row->setting), stated.unknown, value});
      continue;
    }
    words[row->setting] = value.scalar;
    const bool setting = row->setting.find_first_of(".-") != std::string_view::npos;
    if (!setting || value.scalar == "None") continue;
    YamlEntry entry{value, value};
    entry.key.scalar = row->setting;
    flags.map.entries.push_back(std::move(entry));
  }
  std::string model = words["recipe"];
  if (!words["size"].empty()) model += "_" + words["size"];
  const std::string task = words["task"].empty() ? "pretrain" : words["task"];
  YamlNode place = locations.node(command.words.front().at, command.words.front().width, "");
  const auto put = [&](std::string_view key, std::string value) {
    YamlEntry entry{place, place};
    entry.key.scalar = key;
    entry.value.scalar = std::move(value);
    flags.map.entries.push_back(std::move(entry));
  };
  if (!model.empty()) put("model.hf_model_id", model);
  if (words["dtype"].starts_with("fp8")) put("mixed_precision", "bf16_with_" + words["dtype"]);
  flags.recipe_name = model + "_" + task + "_config";
  findings.push_back(make_assumption(
      "options that are not given are those of the recipe for any GPU; the recipe for this GPU may "
      "differ",
      "state the degrees and batches as options", {.file = input.file}));
  return flags;
}

}  // namespace

std::optional<ScriptFlags> read_run_bridge_program(const PlanFile& script, const ShellInput& input,
                                                   Diagnostics& findings) {
  if (script.text.find(kExperiment) != std::string::npos) {
    const ShellScript shell = read_shell(script.text, input);
    if (const ShellCommand* const command = find_experiment(shell))
      return read_experiment(*command, input, script.text, findings);
  }
  const std::optional<LaunchedProgram> found = find_launched_program(script, input);
  if (!found) return std::nullopt;
  const YamlNode& launch = found->launch.map;
  ScriptFlags flags = read_bridge_program(found->text, make_program_input(*found, input), findings);
  // The text of the program is not that of the script.
  YamlNode place;
  if (!launch.entries.empty()) place = launch.entries.back().key;
  move_to(flags.map, place);
  for (ScriptFlags::Unknown& one : flags.unknown) move_to(one.place, place);
  for (ScriptFlags::Default& one : flags.defaults) move_to(one.place, place);
  constexpr std::pair<const char*, std::string_view> kRanks[] = {
      {"nodes", "num-nodes"}, {"gpus-per-node", "devices"}, {"world-size", ""}};
  for (const auto& [rank, setting] : kRanks)
    if (const YamlNode* const stated = launch.find(rank)) {
      YamlEntry entry{*stated, *stated};
      entry.key.scalar = rank;
      replace_settings(flags, {rank, setting}, std::move(entry));
    }
  for (const YamlEntry& override : found->overrides.map.entries)
    if (override.key.scalar.find('.') != std::string::npos)
      replace_settings(flags, {name_flag(override.key.scalar)}, override);
  // The value of an option that the script has by a default is one.
  for (const ScriptFlags::Default& open : found->launch.defaults)
    for (const YamlEntry& setting : flags.map.entries)
      if (setting.value.scalar == open.place.scalar &&
          setting.key.scalar.find('.') != std::string::npos)
        flags.defaults.push_back({name_flag(setting.key.scalar), open.variable, setting.value});
  flags.open_ranks = found->launch.open_ranks;
  flags.used = found->launch.used;
  return flags;
}

bool runs_bridge_program(std::string_view text, const std::string& name, const FileReader& files,
                         ShellInput variables) {
  variables.file = name;
  variables.files = files;
  if (text.find(kExperiment) != std::string_view::npos && is_script_file(name))
    return find_experiment(read_shell(text, variables)) != nullptr;
  return find_launched_program({.name = name, .text = std::string(text)}, variables).has_value();
}

}  // namespace rankwright::importer
