#include "rankwright/import/framework/recipe_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/megatron_model.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/script/recipe_defaults.h"

namespace rankwright::importer {
namespace {

/// Sets or deletes (null) the value at a dotted path; maps on the way are created.
void set_at(YamlNode& root, std::string_view path, const YamlNode* value) {
  constexpr int kMaxDepth = 8;
  YamlNode* map = &root;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const std::string_view part = path.substr(0, path.find('.'));
    const bool last = part.size() == path.size();
    const auto found =
        std::find_if(map->entries.begin(), map->entries.end(),
                     [&](const YamlEntry& entry) { return entry.key.scalar == part; });
    if (last) {
      if (found != map->entries.end()) map->entries.erase(found);
      if (value == nullptr) return;
      YamlEntry entry{*value, *value};
      entry.key.scalar = part;
      map->entries.push_back(std::move(entry));
      return;
    }
    path.remove_prefix(part.size() + 1);
    if (found != map->entries.end() && found->value.kind == YamlNode::Kind::map) {
      map = &found->value;
      continue;
    }
    if (value == nullptr) return;
    if (found != map->entries.end()) map->entries.erase(found);
    YamlEntry entry{*value, *value};
    entry.key.scalar = part;
    entry.value.kind = YamlNode::Kind::map;
    entry.value.scalar.clear();
    map->entries.push_back(std::move(entry));
    map = &map->entries.back().value;
  }
}

/// Reads "llama3_8b(name='a',num_nodes=2)": the recipe of NeMo that a script names, and its ranks.
void read_factory(ScriptFlags& script, ScriptFlags& flags) {
  const YamlNode* const factory = script.map.find("factory");
  if (factory == nullptr) return;
  constexpr std::pair<std::string_view, std::string_view> kArguments[] = {
      {"num_nodes", "nodes"}, {"num_gpus_per_node", "gpus-per-node"}};
  const std::string_view call = factory->scalar;
  script.recipe_name = std::string(call.substr(0, call.find('(')));
  const auto add = [&](std::string_view name, std::string_view value) {
    YamlEntry entry{*factory, *factory};
    entry.key.scalar = name;
    entry.value.scalar = value;
    std::erase_if(flags.map.entries, [&](const YamlEntry& old) { return old.key.scalar == name; });
    flags.map.entries.push_back(std::move(entry));
  };
  if (flags.map.find("model") == nullptr) add("model", script.recipe_name);
  for (const auto& [argument, flag] : kArguments) {
    const std::size_t at = call.find(argument);
    if (at == std::string_view::npos || flags.map.find(flag) != nullptr) continue;
    std::size_t begin = call.find_first_not_of(' ', at + argument.size());
    if (begin == std::string_view::npos || call[begin] != '=') continue;
    begin = std::min(call.find_first_not_of(' ', begin + 1), call.size());
    const std::size_t end = std::min(call.find_first_not_of("0123456789", begin), call.size());
    if (end > begin) add(flag, call.substr(begin, end - begin));
  }
}

/// Returns whether the overrides are those of a config of Megatron-Bridge, which alone has a
/// section `train`: its examples have a program per recipe ("pretrain_llama3_8b.py").
bool overrides_bridge_program(const ScriptFlags& script) {
  const std::vector<YamlEntry>& entries = script.map.entries;
  return script.hydra_config.scalar.empty() && script.program.ends_with(".py") &&
         std::any_of(entries.begin(), entries.end(),
                     [](const YamlEntry& entry) { return entry.key.scalar.starts_with("train."); });
}

/// Takes the recipe that a program of Megatron-Bridge runs from the name of the program, and the
/// model from the same name.
void read_bridge_example(ScriptFlags& script, ScriptFlags& flags) {
  constexpr std::string_view kPrefixes[] = {"pretrain_", "finetune_", "sft_", "peft_"};
  script.recipe_name = script.program;
  std::string_view name = script.program;
  name.remove_suffix(std::string_view(".py").size());
  for (const std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (flags.map.find("model") != nullptr || flags.map.find("hf-model-id") != nullptr) return;
  YamlEntry named = script.map.entries.front();
  named.key.scalar = "model";
  named.value.scalar = name;
  flags.map.entries.push_back(std::move(named));
}

/// A program of NeMo 1.x, and the config that it takes from the folder `conf` beside it if a
/// command names none.
struct NemoProgram {
  std::string_view program, config;
};
constexpr NemoProgram kNemoPrograms[] = {
    {"megatron_gpt_pretraining.py", "megatron_gpt_config"},
    {"megatron_gpt_continue_training.py", "megatron_gpt_config"},
    {"megatron_gpt_sft.py", "megatron_gpt_sft"},
    {"megatron_gpt_finetuning.py", "megatron_gpt_finetuning_config"},
    {"megatron_gpt_peft_tuning.py", "megatron_gpt_peft_tuning_config"},
};

const NemoProgram* find_nemo_program(const ScriptFlags& script) {
  const auto found =
      std::find_if(std::begin(kNemoPrograms), std::end(kNemoPrograms),
                   [&](const NemoProgram& row) { return row.program == script.program; });
  return found == std::end(kNemoPrograms) ? nullptr : found;
}

/// Takes the config of a program of NeMo that lies beside it, if the command names none.
void add_usual_config(ScriptFlags& script, const ShellInput& input) {
  const NemoProgram* const row = find_nemo_program(script);
  if (row == nullptr || !script.hydra_config.scalar.empty() || !input.files ||
      script.map.entries.empty())
    return;
  const std::string& program = script.program_file.empty() ? script.module : script.program_file;
  YamlNode config = script.map.entries.front().key;
  config.scalar =
      fmt::format("{}conf/{}.yaml", program.substr(0, program.rfind('/') + 1), row->config);
  if (read_named_file(input.files, input.file, config.scalar)) script.hydra_config = config;
}

/// The settings of megatron_gpt_config.yaml that its users override least (NeMo 1.20 to 1.23).
constexpr std::pair<std::string_view, std::string_view> kGptConfig[] = {
    {"num-layers", "12"},        {"hidden-size", "768"},     {"num-attention-heads", "12"},
    {"ffn-hidden-size", "3072"}, {"seq-length", "512"},      {"max-position-embeddings", "512"},
    {"micro-batch-size", "4"},   {"global-batch-size", "8"}, {"fp16", "true"},
};

/// Adds the defaults of that config, if the command overrides it without having it beside.
void add_nemo_defaults(const ScriptFlags& script, ScriptFlags& flags, Diagnostics& findings) {
  const NemoProgram* const row = find_nemo_program(script);
  if (row == nullptr || row->config != kNemoPrograms[0].config ||
      !script.hydra_config.scalar.empty() || script.map.entries.empty())
    return;
  const YamlNode place = script.map.entries.front().key;
  std::vector<std::string> added;
  for (const auto& [flag, value] : kGptConfig) {
    const bool unknown = std::any_of(
        script.unknown.begin(), script.unknown.end(),
        [name = flag](const ScriptFlags::Unknown& one) { return name_flag(one.flag) == name; });
    const bool format = flag == "fp16" && (flags.map.find("bf16") || flags.map.find("fp32"));
    if (unknown || format || flags.map.find(flag) != nullptr) continue;
    YamlEntry entry{place, place};
    entry.key.scalar = flag;
    entry.value.scalar = value;
    flags.map.entries.push_back(std::move(entry));
    added.push_back(fmt::format("{} {}", flag, value));
  }
  if (!added.empty())
    findings.push_back(make_assumption(
        fmt::format("{}, as conf/{}.yaml of NeMo has them", fmt::join(added, ", "), row->config),
        "put the config beside the script", location(place, {})));
}

/// A setting that a recipe has a value of its own for.
struct RecipeSetting {
  const char* flag;
  const char* plan_key;
  const char* shown;
  const char* hint;
};
constexpr RecipeSetting kRecipeSettings[] = {
    {"tensor-model-parallel-size", "parallelism.tp_size", "TP", "--tp N"},
    {"pipeline-model-parallel-size", "parallelism.pp_size", "PP", "--pp N"},
    {"context-parallel-size", "parallelism.cp_size", "CP", "--cp N"},
    {"expert-model-parallel-size", "parallelism.ep_size", "EP", "--ep N"},
    {"sequence-parallel", "parallelism.sequence_parallel", "sequence parallelism",
     "set model.sequence_parallel"},
    {"recompute-granularity", "parallelism.recompute", "recomputation",
     "set model.recompute_granularity"},
    {"micro-batch-size", "parallelism.micro_batch", "micro-batch", "--micro-batch N"},
    {"global-batch-size", "job.global_batch", "global batch", "--global-batch N"},
    {"seq-length", "job.sequence", "sequence", "--seq N"},
};

/// Marks the settings that nothing states as open, as their values are those of `source`, which is
/// not read. Returns their names.
std::vector<std::string_view> open_settings(const ScriptFlags& flags, std::string_view source,
                                            PlanFile& plan) {
  const bool dense = plan.draft.model && !plan.draft.model->sparse();
  std::vector<std::string_view> shown;
  for (const RecipeSetting& row : kRecipeSettings) {
    const bool unknown =
        std::any_of(flags.unknown.begin(), flags.unknown.end(),
                    [&](const ScriptFlags::Unknown& one) { return one.flag == row.flag; });
    const bool of_experts = std::string_view(row.flag) == "expert-model-parallel-size";
    if (unknown || !is_open(flags, row.flag) || (of_experts && dense)) continue;
    plan.open.push_back({row.plan_key, fmt::format("{} of {}", row.shown, source), row.hint});
    shown.push_back(row.shown);
  }
  return shown;
}

}  // namespace

bool is_bridge_recipe(const YamlNode& root) {
  const auto has = [&](const char* section) { return root.find(section) != nullptr; };
  return has("ddp") || has("dist") || (has("train") && has("dataset") && has("scheduler"));
}

bool has_overrides(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
      {"run_recipe.py", "--recipe"},
      {"megatron_gpt_pretraining.py", "--config-name"},
      {"megatron_gpt_continue_training.py", "--config-name"},
      {"megatron_gpt_finetuning.py", "--config-name"},
      {"megatron_gpt_sft.py", "--config-name"},
      {"megatron_gpt_peft_tuning.py", "--config-name"}};
  for (const auto& [program, option] : kPrograms)
    if (text.find(program) != std::string_view::npos && text.find(option) != std::string_view::npos)
      return true;
  constexpr std::string_view kKeys[] = {
      "model.tensor_model_parallel_size=", "model.pipeline_model_parallel_size=",
      "strategy.tensor_model_parallel_size=", "train.global_batch_size="};
  return std::any_of(std::begin(kKeys), std::end(kKeys), [&](std::string_view key) {
    return text.find(key) != std::string_view::npos;
  });
}

bool runs_overrides(std::string_view text, const ShellInput& input) {
  if (text.find(".sh") == std::string_view::npos || !input.files) return false;
  const ScriptFlags inner = read_overrides(text, input);
  return std::any_of(inner.map.entries.begin(), inner.map.entries.end(),
                     [](const YamlEntry& entry) {
                       return entry.key.scalar.ends_with("model.tensor_model_parallel_size") ||
                              entry.key.scalar.ends_with("strategy.tensor_model_parallel_size");
                     });
}

ScriptFlags read_overridden_recipe(std::string_view text, const ShellInput& input,
                                   bool (*is_read)(std::string_view flag), Diagnostics& findings) {
  ScriptFlags script = read_overrides(text, input);
  if (script.hydra_config.scalar.empty()) script.hydra_config = script.config;
  // NeMo's launcher: "python main.py training=gpt3/20b".
  if (const YamlNode* const group = script.map.find("training");
      group != nullptr && script.hydra_config.scalar.empty() &&
      group->scalar.find('/') != std::string::npos) {
    script.hydra_config = *group;
    script.hydra_config.scalar = fmt::format("conf/training/{}.yaml", group->scalar);
  }
  add_usual_config(script, input);
  ScriptFlags flags =
      read_megatron_yaml(merge_hydra_config(script, input, findings), input, is_read);
  add_nemo_defaults(script, flags, findings);
  if (const YamlNode* const recipe = script.map.find("recipe")) {
    script.recipe_name = recipe->scalar;
    YamlEntry named{*recipe, *recipe};
    named.key.scalar = "model";
    flags.map.entries.push_back(named);
    // Megatron-Bridge's recipes of this name train adapters of this rank.
    if (recipe->scalar.find("_peft") != std::string::npos &&
        flags.map.find("lora-rank") == nullptr) {
      named.key.scalar = "lora-rank";
      named.value.scalar = "32";
      flags.map.entries.push_back(std::move(named));
    }
  }
  read_factory(script, flags);
  if (script.recipe_name.empty() && overrides_bridge_program(script))
    read_bridge_example(script, flags);
  if (const YamlNode* const dim = script.map.find("model.peft.lora_tuning.adapter_dim"))
    for (YamlEntry& entry : flags.map.entries)
      if (entry.key.scalar == "lora-rank") entry.value = *dim;
  script.map = std::move(flags.map);
  script.off.insert(script.off.end(), flags.off.begin(), flags.off.end());
  script.recipe = true;
  for (ScriptFlags::Unknown& one : script.unknown) one.flag = name_flag(one.flag);
  for (ScriptFlags::Default& one : script.defaults) one.flag = name_flag(one.flag);
  return script;
}

YamlNode merge_hydra_config(ScriptFlags& script, const ShellInput& input, Diagnostics& findings) {
  if (script.hydra_config.scalar.empty()) return script.map;
  const YamlNode named = script.hydra_config;
  YamlNode tree = script.map;
  tree.entries.clear();
  if (!input.files || !inherit_file(tree, named, input.file, input.files)) {
    constexpr std::size_t kLongest = 200;
    findings.push_back(
        make_assumption(fmt::format("the settings in {}, which the script names: the file cannot "
                                    "be read",
                                    make_excerpt(named.scalar, kLongest)),
                        "put the file beside the script", location(named, input.file)));
    return script.map;
  }
  script.hydra_config.scalar.clear();
  for (const std::string& key : script.removed) set_at(tree, key, nullptr);
  for (const ScriptFlags::Unknown& one : script.unknown) set_at(tree, one.flag, nullptr);
  for (const YamlEntry& entry : script.map.entries) set_at(tree, entry.key.scalar, &entry.value);
  resolve_references(tree);
  return tree;
}

void fill_usual_ranks(ForeignReading& r, PlanFile& plan, std::string_view path) {
  constexpr i64 kUsualGpus = 8;
  const std::optional<i64> nodes = read_whole_at(r, path, 1, cluster::kMaxDevices / kUsualGpus);
  if (nodes && !plan.draft.shape && !plan.draft.world) plan.usual_world = *nodes * kUsualGpus;
}

void read_recipe_model(ForeignReading& r, std::vector<std::string>& ignored) {
  constexpr const char* kNames[] = {"model", "name-or-path", "model-name-or-path", "hf-model-id",
                                    "restore-from-path"};
  std::erase_if(ignored, [&](const std::string& key) {
    return std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames);
  });
  for (const char* const path : kNames)
    if (const YamlNode* const node = find_path(r.root, path);
        node != nullptr && node->kind == YamlNode::Kind::scalar && !r.draft.model)
      r.fields.under("model", *node, [&] { read_named_model(r, *node); });
  override_shapes(r);
}

void add_recipe_defaults(ScriptFlags& flags, PlanFile& plan) {
  std::string name = flags.recipe_name;
  if (name.ends_with(".finetune_recipe"))
    name += flags.map.find("lora-rank") != nullptr ? ".lora" : ".none";
  const RecipeDefaults recipe = find_recipe_defaults(name);
  if (recipe.settings.empty()) return;
  YamlNode place;
  if (!flags.map.entries.empty()) place = flags.map.entries.front().key;
  place.kind = YamlNode::Kind::scalar;
  std::vector<std::string> shown;
  for (const auto& [flag, value] : recipe.settings) {
    const bool ranks = flag == "nodes" && (flags.map.find("world-size") || flags.open_ranks);
    const bool gathers = flag == "overlap-param-gather";  // what only that optimizer shards
    const bool whole = std::find(flags.off.begin(), flags.off.end(), "use-distributed-optimizer") !=
                       flags.off.end();
    if (ranks || (gathers && whole) || !is_open(flags, flag)) continue;
    if (value == "false") {
      flags.off.emplace_back(flag);
      continue;
    }
    YamlEntry entry{place, place};
    entry.key.scalar = flag;
    entry.value.scalar = value;
    flags.map.entries.push_back(std::move(entry));
    const auto* const row =
        std::find_if(std::begin(kRecipeSettings), std::end(kRecipeSettings),
                     [&named = flag](const RecipeSetting& one) { return named == one.flag; });
    if (row == std::end(kRecipeSettings)) continue;
    plan.open.push_back({row->plan_key, fmt::format("{} of the recipe", row->shown), row->hint});
    shown.push_back(value == "true" ? std::string(row->shown)
                                    : fmt::format("{} {}", row->shown, value));
  }
  flags.recipe_settings = fmt::format(
      "{}, as the recipe {} has them at {}",
      shown.empty() ? "overlap and optimizer" : fmt::format("{}", fmt::join(shown, ", ")),
      make_excerpt(flags.recipe_name), recipe.source);
}

void assume_recipe(ForeignReading& r, const ScriptFlags& flags, PlanFile& plan) {
  if (flags.recipe_name.empty() && flags.hydra_config.scalar.empty()) return;
  if (!flags.recipe_settings.empty())
    return r.fields.report(flags.map, make_assumption(flags.recipe_settings,
                                                      "state them in the file, or in a plan file"));
  if (flags.recipe_name.empty()) {
    open_settings(flags, "the config", plan);
    if (is_open(flags, "use-distributed-optimizer"))
      plan.open.push_back(
          {"parallelism.zero_stage", "ZeRO stage of the config", "set model.optim.name"});
    return;
  }
  const std::vector<std::string_view> shown = open_settings(flags, "the recipe", plan);
  if (shown.empty()) return;
  r.fields.report(flags.map, make_assumption(fmt::format("the recipe {} sets these, and is not "
                                                         "read: {}",
                                                         make_excerpt(flags.recipe_name),
                                                         fmt::join(shown, ", ")),
                                             "state them in the file, or in a plan file"));
}

}  // namespace rankwright::importer
