// Launch scripts of llm-foundry: Composer runs train.py with a config and values above it
// (`composer train.py yamls/pretrain/mpt-1b.yaml max_seq_len=2048`).
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/recipe/pretraining_parts.h"

namespace rankwright::importer {
namespace {

bool runs_composer(const ShellCommand& command) {
  const auto ends = [&](std::string_view end) {
    return std::any_of(command.words.begin(), command.words.end(), [&](const ShellWord& word) {
      return word.text == end || word.text.ends_with(fmt::format("/{}", end));
    });
  };
  return !command.assigned && ends("composer") && ends("train.py");
}

/// Returns the folder that the lines of `text` change to: those of relative names are joined. Names
/// with variables count as none.
std::string find_folder(std::string_view text) {
  constexpr std::string_view kChange = "cd ";
  std::string folder;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(kChange)) continue;
    std::string name(line.substr(kChange.size()));
    std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
    name = name.substr(0, name.find_first_of(" \t\r;&|"));
    if (name.empty() || name.find('$') != std::string::npos) continue;
    folder = folder.empty() ? name : beside(folder + "/", name);
  }
  return folder;
}

/// Returns the processes that Composer's launcher starts on a node (-n, --nproc).
std::optional<i64> find_processes(const ShellCommand& command) {
  constexpr i64 kMaxGpus = 64;
  for (std::size_t i = 0; i + 1 < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (word.ends_with(".py")) break;
    if ((word != "-n" && word != "--nproc") || !command.words[i + 1].unknown.empty()) continue;
    const Result<i64> n = parse_count(command.words[i + 1].text, 1);
    if (n && *n <= kMaxGpus) return *n;
  }
  return std::nullopt;
}

}  // namespace

bool claims_foundry_script(std::string_view file, std::string_view text) {
  return is_script_file(file) && has_any(text, {"composer "}) && has_any(text, {"train.py"}) &&
         has_any(text, {".yaml", ".yml"});
}

void read_foundry_script(PlanFile& plan, const FileReader& files) {
  const ShellInput input = make_script_input(plan, files);
  ScriptFlags flags = read_overrides(plan.text, input);
  forget_usual_folders(flags);
  const ShellScript script = read_shell(plan.text, input);
  const auto command = std::find_if(script.commands.begin(), script.commands.end(), runs_composer);
  FieldReader fields(plan.name, plan.findings);
  YamlNode tree;
  tree.kind = YamlNode::Kind::map;
  bool found = false;
  if (command != script.commands.end() && !flags.config.scalar.empty()) {
    const std::string_view before =
        std::string_view(plan.text).substr(0, command->words.front().at);
    const std::string folder = find_folder(before);
    YamlNode config = flags.config;
    if (!folder.empty()) config.scalar = beside(folder + "/", flags.config.scalar);
    found = inherit_file(tree, config, plan.name, files) ||
            inherit_file(tree, flags.config, plan.name, files);
  }
  if (!found)
    return fields.report(
        flags.config.scalar.empty() ? tree : flags.config,
        {.code = "RW0603",
         .message = "no training settings in this script",
         .detail = flags.config.scalar.empty()
                       ? "it names no config for llm-foundry's train.py"
                       : fmt::format("they are in {}, which cannot be read",
                                     make_excerpt(flags.config.scalar, kLongestLabel)),
         .hint = "put the config beside the script"});
  tree = unwrap_foundry(tree);
  for (const YamlEntry& entry : flags.map.entries) set_path(tree, entry.key.scalar, entry.value);
  resolve_references(tree);
  ForeignReading reading{fields, plan.draft, tree, files};
  reading.launcher_keys = flags.of_launcher;
  read_foundry_tree(reading, plan);
  const std::optional<i64> processes = find_processes(*command);
  if (processes) plan.draft.shape = NodeShape{.nodes = 1, .gpus = *processes};
  if (!plan.draft.shape)
    read_node_shape(reading, "nodes", "gpus-per-node", 1, std::nullopt, &flags, &plan);
  report_script_values(reading, flags, foundry_keys(), plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
