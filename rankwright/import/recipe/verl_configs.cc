// The settings of a run of verl before they are read as such: those of a script's overrides, of the
// YAML files that it names or inherits, and of EasyR1, a fork with names of its own.
#include "rankwright/import/recipe/verl_configs.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/recipe_script.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace {

constexpr ForkSetting kForkSettings[] = {
    {"worker.actor.model.model_path", "actor_rollout_ref.model.path"},
    {"worker.actor.model.lora.rank", "actor_rollout_ref.model.lora_rank"},
    {"worker.actor.model.enable_gradient_checkpointing",
     "actor_rollout_ref.model.enable_gradient_checkpointing"},
    {"worker.actor.model.freeze_vision_tower", "actor_rollout_ref.model.freeze_vision_tower"},
    {"worker.actor.global_batch_size", "actor_rollout_ref.actor.ppo_mini_batch_size"},
    {"worker.actor.micro_batch_size_per_device_for_update",
     "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"},
    {"worker.actor.ulysses_size", "actor_rollout_ref.actor.ulysses_sequence_parallel_size"},
    {"worker.actor.ulysses_sequence_parallel_size",
     "actor_rollout_ref.actor.ulysses_sequence_parallel_size"},
    {"worker.actor.fsdp.enable_full_shard",
     "actor_rollout_ref.actor.fsdp_config.reshard_after_forward"},
    {"worker.actor.fsdp.enable_cpu_offload", "actor_rollout_ref.actor.fsdp_config.offload_policy"},
    {"worker.actor.fsdp.fsdp_size", "actor_rollout_ref.actor.fsdp_config.fsdp_size"},
    {"worker.actor.fsdp.torch_dtype", "actor_rollout_ref.actor.fsdp_config.model_dtype"},
    {"worker.actor.fsdp.mp_param_dtype",
     "actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype"},
    {"worker.actor.optim.strategy", "actor_rollout_ref.actor.optim.strategy"},
    {"worker.actor.model.lora.target_modules", "actor_rollout_ref.model.target_modules"},
    {"algorithm.adv_estimator", "algorithm.adv_estimator"},
    {"worker.rollout.n", "actor_rollout_ref.rollout.n"},
    {"worker.rollout.gpu_memory_utilization", "actor_rollout_ref.rollout.name"},
    {"worker.ref.fsdp.enable_cpu_offload", "actor_rollout_ref.ref.fsdp_config.param_offload"},
    {"algorithm.use_kl_loss", "actor_rollout_ref.actor.use_kl_loss"},
    {"data.max_prompt_length", "data.max_prompt_length"},
    {"data.max_response_length", "data.max_response_length"},
    {"trainer.nnodes", "trainer.nnodes"},
    {"trainer.n_gpus_per_node", "trainer.n_gpus_per_node"},
};

/// Adds the settings of EasyR1 under verl's names: those of the file itself, then those of the YAML
/// file that `config=` names. Its micro-batch has four sequences unless stated.
void add_fork_settings(ScriptFlags& flags, const std::string& file, const FileReader& files) {
  Diagnostics ignored;
  YamlNode config;
  if (const YamlNode* const named = flags.map.find("config")) {
    const Result<std::string> text = read_named_file(files, file, named->scalar);
    Result<YamlNode> root = text ? read_python_yaml(*text, named->scalar, ignored)
                                 : Result<YamlNode>(fail(text.error()));
    if (!root) flags.unread.push_back(named->scalar);
    if (root) config = std::move(*root);
    if (root) move_to(config, *named);
  }
  std::vector<YamlEntry> added;
  for (const auto& [fork, verl] : kForkSettings) {
    const auto unknown = std::find_if(
        flags.unknown.begin(), flags.unknown.end(),
        [&named = fork](const ScriptFlags::Unknown& one) { return one.flag == named; });
    if (unknown != flags.unknown.end()) {
      unknown->flag = verl;
      continue;
    }
    const YamlNode* node = find_path(flags.map, fork);
    if (node == nullptr) node = find_path(config, fork);
    if (node == nullptr || (fork == verl && find_path(flags.map, verl) != nullptr)) continue;
    YamlEntry entry{*node, *node};
    entry.key.scalar = verl;
    added.push_back(std::move(entry));
  }
  constexpr std::string_view kMicro = "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu";
  if (!added.empty() && std::none_of(added.begin(), added.end(), [&](const YamlEntry& one) {
        return one.key.scalar == kMicro;
      })) {
    YamlEntry entry = added.front();
    entry.key.scalar = kMicro;
    entry.value.scalar = "4";
    added.push_back(std::move(entry));
  }
  for (YamlEntry& entry : added) flags.map.entries.push_back(std::move(entry));
}

/// Returns whether a script names a config that is not of verl's package.
bool names_own_config(const ScriptFlags& flags) {
  constexpr std::string_view kPackaged[] = {"ppo_trainer.yaml", "ppo_megatron_trainer.yaml",
                                            "sft_trainer.yaml", "sft_trainer_engine.yaml"};
  const std::string& config = flags.hydra_config.scalar;
  const std::string_view name = std::string_view(config).substr(config.rfind('/') + 1);
  return !config.empty() &&
         std::find(std::begin(kPackaged), std::end(kPackaged), name) == std::end(kPackaged);
}

/// Names the config of verl's package that a script's program takes, in the checkout that it runs
/// in: those of reinforcement learning are also there as one file, with all parts that it joins.
std::vector<std::string> list_packaged_configs(const ScriptFlags& flags) {
  std::string name = flags.hydra_config.scalar;
  name = name.substr(name.rfind('/') + 1);
  if (name.empty()) {
    constexpr std::pair<std::string_view, std::string_view> kConfigs[] = {
        {"verl.trainer.main_ppo", "ppo_trainer.yaml"},
        {"verl.trainer.fsdp_sft_trainer", "sft_trainer.yaml"},
        {"verl.trainer.sft_trainer", "sft_trainer_engine.yaml"}};
    for (const auto& [module, config] : kConfigs)
      if (flags.module == module) name = config;
  }
  if (name.empty()) return {};
  return {"verl/trainer/config/_generated_" + name, "verl/trainer/config/" + name};
}

/// Returns whether a config joins others, which are not read.
bool joins_configs(const YamlNode& config) {
  const YamlNode* const parts = config.find("defaults");
  return parts != nullptr &&
         std::any_of(parts->items.begin(), parts->items.end(),
                     [](const YamlNode& part) { return part.scalar != "_self_"; });
}

/// Adds the defaults of the checkout that the script is in: forks change them. They are found from
/// the folder of the script or one above it.
void add_checkout_defaults(ScriptFlags& flags, const ShellInput& input, Diagnostics& findings) {
  constexpr std::string_view kAbove[] = {"", "../", "../../", "../../../", "../../../../"};
  if (!input.files) return;
  for (const std::string_view above : kAbove) {
    for (const std::string& name : list_packaged_configs(flags)) {
      const std::string path = beside(input.file, std::string(above) + name);
      Diagnostics unread;
      const Result<std::string> text = input.files(path);
      const Result<YamlNode> config =
          text ? read_python_yaml(*text, path, unread) : Result<YamlNode>(fail(text.error()));
      if (!config || joins_configs(*config)) continue;
      YamlNode place = flags.hydra_config;
      if (place.scalar.empty() && !flags.map.entries.empty()) place = flags.map.entries.front().key;
      flags.hydra_config = place;
      flags.hydra_config.scalar = std::string(above) + name;
      flags.map = merge_hydra_config(flags, input, findings);
      findings.push_back(make_assumption(
          fmt::format("settings that the script does not state are those of {}", name), {},
          location(place, input.file)));
      return;
    }
  }
}

}  // namespace

bool is_easyr1(std::string_view text) {
  return text.find("micro_batch_size_per_device_for_update") != std::string_view::npos ||
         (text.find("verl.trainer.main") != std::string_view::npos &&
          text.find(" config=") != std::string_view::npos);
}

std::string_view find_inherited_trainer(std::string_view text) {
  for (const std::string_view name : {"ppo_trainer", "ppo_megatron_trainer"})
    if (text.find(fmt::format("- {}\n", name)) != std::string_view::npos) return name;
  return {};
}

std::span<const ForkSetting> fork_settings() { return kForkSettings; }

std::optional<ScriptFlags> read_verl_settings(PlanFile& plan, const FileReader& files) {
  ScriptFlags flags;
  if (is_yaml_file(plan.name)) {
    Result<YamlNode> root = read_python_yaml(plan.text, plan.name, plan.findings);
    if (!root) {
      plan.findings.push_back(root.error());
      return std::nullopt;
    }
    flags.map = std::move(*root);
    if (const std::string_view base = find_inherited_trainer(plan.text); !base.empty())
      plan.findings.push_back(
          make_assumption(fmt::format("the settings in {}, which this file inherits: verl's "
                                      "defaults",
                                      base),
                          "", {.file = plan.name}));
    resolve_references(flags.map);
  } else {
    const ShellInput input = make_script_input(plan, files);
    flags = read_overrides(plan.text, input);
    forget_usual_folders(flags);
    if (names_own_config(flags))
      flags.map = merge_hydra_config(flags, input, plan.findings);
    else if (!is_easyr1(plan.text))
      add_checkout_defaults(flags, input, plan.findings);
  }
  if (is_easyr1(plan.text)) add_fork_settings(flags, plan.name, files);
  return flags;
}

}  // namespace rankwright::importer
