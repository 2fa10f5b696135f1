// Launch scripts of GPT-NeoX: deepy.py merges the configs that the command names, in a folder of
// their own if it names one (`./deepy.py train.py -d configs small.yml local_setup.yml`).
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/recipe/pretraining_parts.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer {
namespace {

constexpr std::string_view kLauncher = "deepy.py";

bool launches(const ShellWord& word) { return word.text.ends_with(kLauncher); }

/// Returns the place of a word of the script, with a text.
YamlNode place_word(const PlanFile& plan, const ShellWord& word, std::string text) {
  const Location where = to_location(plan.text, word.at, plan.name);
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.scalar = std::move(text);
  node.line = where.line;
  node.column = where.column;
  node.width = int(std::clamp<std::size_t>(word.width, 1, kLongestLabel));
  return node;
}

/// Returns the configs that a command names after its program: those of a folder, if it names one.
/// The end of a name may be left out.
std::vector<YamlNode> find_configs(const PlanFile& plan, const ShellCommand& command) {
  const std::vector<ShellWord>& words = command.words;
  auto word = std::find_if(words.begin(), words.end(), launches);
  word = std::find_if(word, words.end(), [](const ShellWord& one) {
    return one.text.ends_with(".py") && !launches(one);
  });
  std::string folder;
  std::vector<YamlNode> configs;
  for (word = word == words.end() ? word : word + 1; word != words.end(); ++word) {
    if (word->text.starts_with('-')) {
      const bool states = word->text.find('=') != std::string::npos;
      const bool names_folder = word->text == "-d" || word->text == "--conf_dir";
      if (states || word + 1 == words.end()) continue;
      ++word;
      if (names_folder && word->unknown.empty()) folder = word->text + "/";
    } else if (word->unknown.empty()) {
      const bool whole = is_yaml_file(word->text) || word->text.ends_with(".json");
      configs.push_back(place_word(plan, *word, folder + word->text + (whole ? "" : ".yml")));
    }
  }
  return configs;
}

/// Adds the ranks that a launcher states, under names with underscores as those of the configs.
void add_launch(YamlNode& tree, const ScriptFlags& flags) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"nodes", "nodes"}, {"gpus-per-node", "gpus_per_node"}};
  for (const auto& [flag, key] : kNames)
    for (YamlEntry entry : flags.map.entries)
      if (entry.key.scalar == flag) {
        entry.key.scalar = key;
        tree.entries.push_back(std::move(entry));
      }
}

}  // namespace

bool claims_neox_script(std::string_view file, std::string_view text) {
  return is_script_file(file) && has_any(text, {kLauncher});
}

void read_neox_script(PlanFile& plan, const FileReader& files) {
  const ShellInput input = make_script_input(plan, files);
  const ShellScript script = read_shell(plan.text, input);
  const auto command =
      std::find_if(script.commands.begin(), script.commands.end(), [](const ShellCommand& one) {
        return !one.assigned && std::any_of(one.words.begin(), one.words.end(), launches);
      });
  std::vector<YamlNode> configs;
  if (command != script.commands.end()) configs = find_configs(plan, *command);
  YamlNode tree;
  tree.kind = YamlNode::Kind::map;
  std::vector<YamlNode> missing;
  for (const YamlNode& config : configs)
    if (!inherit_file(tree, config, plan.name, files)) missing.push_back(config);
  FieldReader fields(plan.name, plan.findings);
  if (tree.entries.empty())
    return fields.report(configs.empty() ? tree : configs.front(),
                         {.code = "RW0603",
                          .message = "no training settings in this script",
                          .detail = "they are in the configs that it passes to deepy.py, which "
                                    "cannot be read",
                          .hint = "put them beside the script"});
  for (const YamlNode& config : missing)
    fields.report(config, make_assumption(fmt::format("the settings in {}, which the script names: "
                                                      "the file cannot be read",
                                                      make_excerpt(config.scalar, kLongestLabel)),
                                          "put the file beside the script"));
  ScriptFlags flags = read_overrides(plan.text, input);
  forget_usual_folders(flags);
  add_launch(tree, flags);
  ForeignReading reading{fields, plan.draft, tree, files};
  read_neox_tree(reading, tree, plan);
  read_node_shape(reading, "nodes", "gpus_per_node", 1, std::nullopt, &flags, &plan);
  report_script_values(reading, flags, {}, plan);
  plan.keys = fields.keys();
}

}  // namespace rankwright::importer
