// Reads launch scripts of torchtitan: the TOML config that they name, and the flags above it
// (`--parallelism.tensor_parallel_degree 2`).
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/framework/torchtitan.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/toml_tree.h"

namespace rankwright::importer {
namespace {

constexpr const char* kConfigHint = "put the config beside the script";

void use_config_names(std::string& name) { std::replace(name.begin(), name.end(), '-', '_'); }

/// Returns the flags that override a config, as its keys: those with a section.
YamlNode take_overrides(const YamlNode& flags) {
  YamlNode tree = flags;
  for (YamlEntry& entry : tree.entries) use_config_names(entry.key.scalar);
  std::erase_if(tree.entries, [](const YamlEntry& entry) {
    return entry.key.scalar.find('.') == std::string::npos;
  });
  return tree;
}

/// Returns the name of the config: that of a flag, or of the variable that torchtitan's own script
/// reads. A placeholder if only the running script knows it. Since 2026, it is a function of Python
/// (`--module llama3 --config llama3_8b`).
YamlNode find_config(const YamlNode& overrides, const YamlNode& flags, const ShellScript& script) {
  if (const YamlNode* const named = overrides.find("job.config_file")) return *named;
  if (const YamlNode* const named = flags.find("config"); named != nullptr && flags.find("module"))
    return *named;
  YamlNode config = overrides;
  config.kind = YamlNode::Kind::scalar;
  config.entries.clear();
  config.scalar = "$CONFIG_FILE";
  for (const char* const name : {"CONFIG_FILE", "CONFIG"}) {
    const auto variable = script.variables.find(name);
    if (variable == script.variables.end() || !variable->second.unknown.empty()) continue;
    config.scalar = variable->second.text;
    break;
  }
  return config;
}

/// Returns the config that the checkout of a script has as a function of Python; nothing if there
/// is none: "qwen3_1b" of torchtitan/models/qwen3/config_registry.py.
std::optional<YamlNode> read_registered_config(const YamlNode& config, const YamlNode& flags,
                                               const ShellScript& script, const std::string& file,
                                               const FileReader& files) {
  std::string module;
  if (const YamlNode* const named = flags.find("module")) module = named->scalar;
  const auto variable = script.variables.find("MODULE");
  if (module.empty() && variable != script.variables.end() && variable->second.unknown.empty())
    module = variable->second.text;
  if (module.empty() || config.scalar.starts_with('$')) return std::nullopt;
  for (const char* const folder : {"torchtitan/models/", "torchtitan/experiments/", ""}) {
    const std::string name = fmt::format("{}{}/config_registry.py", folder, module);
    const Result<std::string> text = read_named_file(files, file, name);
    if (!text) continue;
    std::optional<YamlNode> tree = read_torchtitan_function(*text, config.scalar, name);
    if (tree) move_to(*tree, config);
    if (tree) return tree;
  }
  return std::nullopt;
}

/// Leaves open what only the config states, but for the model, which its name may be.
void leave_open(PlanFile& plan, ForeignReading& r, const YamlNode& tree, const YamlNode& config) {
  Draft& d = plan.draft;
  const auto stated = [&](std::string_view path) { return find_path(tree, path) != nullptr; };
  if (!stated("training.seq_len")) d.sequence.reset();
  if (!stated("training.local_batch_size") && !stated("training.batch_size")) {
    d.micro_batch.reset();
    d.accumulation.reset();
  }
  if (!stated("activation_checkpoint.mode"))
    plan.open.push_back({"parallelism.recompute", "the recomputation of the config", kConfigHint});
  if (!d.model) {
    YamlNode name = config;
    name.scalar = name.scalar.substr(0, name.scalar.rfind(".toml"));
    r.fields.under("model", config, [&] { read_named_model(r, name); });
  }
  r.fields.report(config, make_assumption(fmt::format("the settings in {}: it cannot be read",
                                                      make_excerpt(config.scalar)),
                                          kConfigHint));
}

/// Reads the ranks that the launcher starts, or those of torchtitan's own script (`NGPU`).
void read_ranks(ForeignReading& r, const ScriptFlags& flags, const ShellScript& script,
                PlanFile& plan) {
  read_node_shape(r, "nodes", "gpus-per-node", 1, std::nullopt, &flags, &plan);
  const auto gpus = script.variables.find("NGPU");
  if (plan.draft.shape || plan.usual_world || gpus == script.variables.end() ||
      !gpus->second.unknown.empty() || !gpus->second.default_of.empty())
    return;
  constexpr i64 kMaxGpus = 64;
  const Result<i64> n = parse_count(gpus->second.text, 1);
  if (n && *n <= kMaxGpus) plan.draft.shape = NodeShape{.nodes = 1, .gpus = *n};
}

}  // namespace

bool claims_torchtitan_script(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  return is_script_file(file) &&
         (has("--job.config_file") || has("--job.config-file") ||
          (has("torchtitan.train") && has("--module") && has("--config")) ||
          (has("run_train.sh") && has("MODULE=") && has("CONFIG=")) ||
          (has("CONFIG_FILE=") && has(".toml") && (has("run_train.sh") || has("torchtitan"))));
}

void read_torchtitan_script(PlanFile& plan, const FileReader& files) {
  const ShellInput input = make_script_input(plan, files);
  ScriptFlags flags = read_script_flags(plan.text, input);
  forget_usual_folders(flags);
  const ShellScript script = read_shell(plan.text, input);
  for (ScriptFlags::Unknown& one : flags.unknown) use_config_names(one.flag);
  for (ScriptFlags::Default& one : flags.defaults) use_config_names(one.flag);
  const YamlNode overrides = take_overrides(flags.map);
  const YamlNode config = find_config(overrides, flags.map, script);
  const Result<std::string> text = read_named_file(files, plan.name, config.scalar);
  const Result<YamlNode> base =
      text ? read_toml_tree(*text, config.scalar) : Result<YamlNode>(fail(text.error()));
  YamlNode tree = overrides;
  std::optional<YamlNode> registered;
  if (!base) registered = read_registered_config(config, flags.map, script, plan.name, files);
  if (base || registered) {
    tree = base ? move_renamed_keys(*base) : std::move(*registered);
    move_to(tree, config);
    // Whole paths are found before those through maps.
    tree.entries.insert(tree.entries.end(), overrides.entries.begin(), overrides.entries.end());
  }
  read_torchtitan_tree(plan, tree, files, nullptr, base.has_value());
  plan.draft.target = rules::Target::torchtitan_0_2;
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, flags.map, files};
  reading.dashes = "--";
  if (!base && !registered) leave_open(plan, reading, tree, config);
  read_ranks(reading, flags, script, plan);
  report_script_values(reading, flags, torchtitan_keys(), plan);
  plan.ignored_keys.clear();  // data, checkpoints and logging
  plan.keys.insert(plan.keys.end(), fields.keys().begin(), fields.keys().end());
}

}  // namespace rankwright::importer
