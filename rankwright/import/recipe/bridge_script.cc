// Launch scripts of programs for Megatron-Bridge and NeMo 2.0 (bridge_python.cc): the script has
// the ranks, passes options, and may override settings of the config.
#include <algorithm>

#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {
namespace {

/// A program that a script runs, and what the script states beside it.
struct LaunchedProgram {
  ScriptFlags launch{}, overrides{};
  std::string file{}, text{};
};

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
  if (!found.overrides.config.scalar.empty()) return std::nullopt;  // a config states them instead
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

}  // namespace

std::optional<ScriptFlags> read_run_bridge_program(const PlanFile& script, const ShellInput& input,
                                                   Diagnostics& findings) {
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
  flags.open_ranks = found->launch.open_ranks;
  flags.used = found->launch.used;
  return flags;
}

bool runs_bridge_program(std::string_view text, const std::string& name, const FileReader& files,
                         ShellInput variables) {
  variables.file = name;
  variables.files = files;
  return find_launched_program({.name = name, .text = std::string(text)}, variables).has_value();
}

}  // namespace rankwright::importer
