#include "rankwright/import/script/script_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/quantity.h"
#include "rankwright/import/script/flag_collector.h"
#include "rankwright/import/script/script_parts.h"
#include "rankwright/import/script/training_commands.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {
namespace {

/// Sets the layers that have experts where a loop of the script counts them: slime's scripts name
/// the number of dense layers before them.
void add_counted_layers(ScriptFlags& flags, const ShellScript& script) {
  const auto number = [&](const char* name) -> std::optional<i64> {
    const auto found = script.variables.find(name);
    if (found == script.variables.end() || !found->second.unknown.empty()) return std::nullopt;
    const Result<i64> n = parse_count(found->second.text, 0);
    return n ? std::optional(*n) : std::nullopt;
  };
  const std::optional<i64> dense = number("FIRST_K_DENSE_REPLACE"), layers = number("NLAYERS");
  const auto open = std::find_if(flags.unknown.begin(), flags.unknown.end(),
                                 [](const auto& one) { return one.flag == "moe-layer-freq"; });
  if (open == flags.unknown.end() || !dense || !layers || *dense >= *layers) return;
  YamlNode value = open->place;
  value.kind = YamlNode::Kind::scalar;
  value.scalar = fmt::format("[0]*{}+[1]*{}", *dense, *layers - *dense);
  if (*dense == 0) value.scalar = fmt::format("[1]*{}", *layers);
  put_flag(flags.map, "moe-layer-freq", value);
  flags.unknown.erase(open);
}

/// Records the last YAML file that a command names.
void set_config(ScriptFlags& flags, const std::vector<ShellWord>& words,
                const LocationIndex& locations) {
  for (const ShellWord& word : words)
    if (word.unknown.empty() && is_yaml_file(word.text) && word.text.find('=') == std::string::npos)
      flags.config = locations.node(word.at, word.width, word.text);
}

/// Returns the value of an option; the part after the last variable if one is unknown.
std::string find_option_text(const ScriptFlags& flags, std::string_view name) {
  if (const YamlNode* const value = flags.map.find(name)) return value->scalar;
  for (const ScriptFlags::Unknown& one : flags.unknown)
    if (one.flag == name) return one.tail;
  return {};
}

/// Sets the config that Hydra's options name, --config-path and --config-name. The path is relative
/// to the folder of the program, which is `conf` there by default.
void set_hydra_config(ScriptFlags& flags, const std::vector<ShellWord>& words) {
  std::string name = find_option_text(flags, "config-name");
  const YamlNode* const place = flags.map.find("config-name");
  if (name.empty() || place == nullptr) return;
  if (!is_yaml_file(name)) name += ".yaml";
  std::string folder = find_option_text(flags, "config-path");
  if (folder.empty()) folder = "conf";
  const auto program = std::find_if(words.begin(), words.end(), [](const ShellWord& word) {
    return word.text.ends_with(".py") || word.tail.ends_with(".py");
  });
  YamlNode config = *place;
  config.scalar = folder + "/" + name;
  if (program != words.end() && !folder.starts_with('/'))
    config.scalar = beside(program->unknown.empty() ? program->text : program->tail, config.scalar);
  flags.hydra_config = std::move(config);
}

/// Records the kernels of attention that the script turns off in Transformer Engine.
void add_disabled_kernels(ScriptFlags& flags, const ShellScript& script) {
  for (const char* const name : {"NVTE_FLASH_ATTN", "NVTE_FUSED_ATTN"}) {
    const auto found = script.variables.find(name);
    if (found != script.variables.end() && found->second.unknown.empty() &&
        found->second.default_of.empty() && found->second.text == "0")
      flags.disabled_kernels.insert(name);
  }
}

/// Records that the script lets the host wait for every kernel.
void add_blocking(ScriptFlags& flags, const ShellScript& script) {
  for (const char* const name : {"CUDA_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING"})
    if (const auto found = script.variables.find(name);
        found != script.variables.end() && found->second.text == "1")
      flags.blocking = name;
}

/// Records that torch-xla keeps fp32 tensors in bf16.
void add_xla_format(ScriptFlags& flags, const ShellScript& script) {
  for (const char* const name : {"XLA_USE_BF16", "XLA_DOWNCAST_BF16"})
    if (const auto found = script.variables.find(name);
        found != script.variables.end() && found->second.text == "1")
      flags.xla_bf16 = name;
}

/// Adds the sources and configs that `sed -i` changes: what it puts into them is not known.
void add_edited_files(const std::vector<ShellWord>& words, const LocationIndex& locations,
                      ScriptFlags& flags) {
  constexpr std::string_view kEnds[] = {".py", ".json", ".yaml", ".yml", ".toml"};
  constexpr std::size_t kMaxFiles = 100;
  const bool edits = words.size() > 2 && words[0].text == "sed" &&
                     std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
                       return word.text.starts_with("-i") || word.text.starts_with("--in-place");
                     });
  for (std::size_t i = 1; edits && i < words.size() && flags.edited.size() < kMaxFiles; ++i)
    if (std::any_of(std::begin(kEnds), std::end(kEnds),
                    [&](std::string_view end) { return words[i].text.ends_with(end); }))
      flags.edited.push_back(locations.node(words[i].at, words[i].width, words[i].text));
}

/// Returns whether the flags are those of a training run.
bool has_run_flags(const ScriptFlags& flags) {
  return std::any_of(flags.map.entries.begin(), flags.map.entries.end(), [](const YamlEntry& one) {
    const std::string& name = one.key.scalar;
    return is_in(kTrainingFlags, name) || is_in(kTrainerFlags, name) || is_in(kOpenrlhfFlags, name);
  });
}

/// Returns whether two commands have different flags or configs.
bool conflict(const ScriptFlags& a, const ScriptFlags& b) {
  const auto has_all = [](const ScriptFlags& some, const ScriptFlags& all) {
    return std::all_of(some.map.entries.begin(), some.map.entries.end(),
                       [&](const YamlEntry& entry) {
                         const YamlNode* const other = all.map.find(entry.key.scalar);
                         return other != nullptr && other->scalar == entry.value.scalar;
                       });
  };
  return a.config.scalar != b.config.scalar || !has_all(a, b) || !has_all(b, a);
}

/// Adds what the reading of the script found beside flags.
void add_script_facts(ScriptFlags& flags, const ShellScript& script,
                      const LocationIndex& locations) {
  for (const std::size_t at : script.guesses) flags.guesses.push_back(locations.node(at, 1, ""));
  for (const std::size_t at : script.cut_off) flags.cut_off.push_back(locations.node(at, 1, ""));
  flags.cut = script.cut;
  flags.used = script.used;
  flags.default_values = script.defaults;
  flags.unread = script.sources;
  flags.written = script.written;
}

/// Returns the flags of one command that trains, and the config that it names.
ScriptFlags read_run(const ShellCommand& command, std::string_view text) {
  ScriptFlags one;
  one.map.kind = YamlNode::Kind::map;
  FlagCollector collector(text, one);
  collector.add(command.words);
  if (const ShellWord* const config = find_config(command.words)) {
    one.config = LocationIndex(text).node(config->at, config->width, config->text);
    collector.set_program(command.words);
  }
  one.command = list_programs(command.words);
  return one;
}

ScriptFlags read_script(std::string_view text, const ShellInput& input) {
  ScriptFlags commands, all, first;
  commands.map.kind = all.map.kind = first.map.kind = YamlNode::Kind::map;
  const ShellScript script = read_shell(text, input);
  FlagCollector launched_ones(text, commands), everything(text, all);
  std::vector<const ShellCommand*> runs;
  for (const ShellCommand* const command : list_commands(script)) {
    everything.add(command->words);
    if (command->assigned) continue;
    if (!is_run(*command)) {
      launched_ones.add(command->words);
      continue;
    }
    const ScriptFlags one = read_run(*command, text);
    if (runs.empty()) {
      first = one;
      commands.config = all.config = one.config;
    }
    // A second run with other settings is another plan.
    if (conflict(first, one))
      ++commands.other_commands;
    else
      runs.push_back(command);
  }
  // The flags of a command that trains count more than those of others.
  for (const ShellCommand* const command : runs) launched_ones.add(command->words);
  // Without flags of training, the first program that does nothing else is taken for it.
  for (const ShellCommand& command : script.commands)
    if (first.command.empty() && !command.assigned && !prints(command) &&
        !runs_other_program(command.words) && !find_program(command.words).empty())
      first.command = list_programs(command.words);
  for (ScriptFlags* const chosen : {&commands, &all}) {
    chosen->command = first.command;
    if (!first.module.empty()) chosen->module = first.module;
    if (chosen->program.empty()) chosen->program = first.program;
    if (chosen->program_file.empty()) chosen->program_file = first.program_file;
  }
  // Lists of flags that are not passed to a command count only if no command has training flags.
  const bool run = has_run_flags(commands) || !commands.config.scalar.empty();
  ScriptFlags flags = run ? std::move(commands) : std::move(all);
  const LocationIndex locations(text);
  for (const ShellCommand& command : script.commands)
    if (!command.assigned) add_edited_files(command.words, locations, flags);
  add_counted_layers(flags, script);
  add_disabled_kernels(flags, script);
  add_blocking(flags, script);
  add_xla_format(flags, script);
  add_launch(flags, script, text, locations);
  add_script_facts(flags, script, locations);
  return flags;
}

}  // namespace

ScriptFlags read_script_flags(std::string_view text, const ShellInput& input) {
  return has_argument_dump(text) ? read_argument_dump(text) : read_script(text, input);
}

ScriptFlags read_overrides(std::string_view text, const ShellInput& input) {
  ScriptFlags flags, all;
  flags.map.kind = all.map.kind = YamlNode::Kind::map;
  const ShellScript script = read_shell(text, input);
  const LocationIndex locations(text);
  FlagCollector collector(text, flags), everything(text, all);
  for (const ShellCommand& command : script.commands) {
    if (runs_other_program(command.words)) continue;
    everything.add_overrides(command.words);
    if (all.config.scalar.empty() && runs_python(command.words))
      set_config(all, command.words, locations);
  }
  const std::vector<const ShellCommand*> runs = find_overriding_commands(script);
  if (!runs.empty()) {
    const std::vector<ShellWord>& words = runs.front()->words;
    flags.other_commands = runs.size() - 1;
    collector.add(words);
    for (const YamlEntry& option : flags.map.entries)
      flags.of_launcher.push_back(option.key.scalar);
    collector.add_overrides(words);
    set_config(flags, words, locations);
    set_hydra_config(flags, words);
  } else {
    flags = std::move(all);
  }
  add_disabled_kernels(flags, script);
  add_launch(flags, script, text, locations);
  add_script_facts(flags, script, locations);
  return flags;
}

FileReader with_written_files(const FileReader& files, const std::string& file,
                              const ScriptFlags& flags) {
  return [&files, file, written = flags.written](const std::string& path) -> Result<std::string> {
    for (const auto& [name, text] : written)
      if (path == name || path == beside(file, name)) return text;
    return files(path);
  };
}

bool is_open(const ScriptFlags& flags, std::string_view name) {
  return flags.map.find(name) == nullptr &&
         std::find(flags.off.begin(), flags.off.end(), name) == flags.off.end();
}

bool has_training_flags(const ScriptFlags& flags) {
  return std::any_of(std::begin(kTrainingFlags), std::end(kTrainingFlags),
                     [&](std::string_view name) { return flags.map.find(name) != nullptr; });
}

}  // namespace rankwright::importer
