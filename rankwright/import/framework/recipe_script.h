// Recipes of Megatron-Bridge and NeMo that a launch script runs or overrides: which they are, the
// config that the script names, and what only the recipe states. Their settings are those of
// Megatron-LM under other names, so megatron.cc reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// Returns whether a YAML file has the sections of Megatron-Bridge.
bool is_bridge_recipe(const YamlNode& root);

/// Returns whether a script runs a recipe of Megatron-Bridge or a config of NeMo, or overrides one
/// ("model.tensor_model_parallel_size=2").
bool has_overrides(std::string_view text);

/// Returns whether a script that this one runs overrides the config of a model.
bool runs_overrides(std::string_view text, const ShellInput& input);

/// Reads the overrides of a script as the keys of a recipe, which may be named too. `is_read`
/// selects the flags that matter.
ScriptFlags read_overridden_recipe(std::string_view text, const ShellInput& input,
                                   bool (*is_read)(std::string_view flag), Diagnostics& findings);

/// Returns the config that a script names with Hydra's options, under the script's overrides. One
/// that cannot be read is reported, and stays in `script`.
YamlNode merge_hydra_config(ScriptFlags& script, const ShellInput& input, Diagnostics& findings);

/// A run that states only its nodes, at `path`, is assumed to have 8 GPUs in each.
void fill_usual_ranks(ForeignReading& r, PlanFile& plan, std::string_view path = "nodes");

/// Recipes of Megatron-Bridge may name a model instead of its shapes, and those of NeMo a
/// checkpoint. The names of these keys are taken off `ignored`.
void read_recipe_model(ForeignReading& r, std::vector<std::string>& ignored);

/// Adds the settings that a known recipe has in its own code and nothing here states, and reports
/// them as assumed: they are those of one revision.
void add_recipe_defaults(ScriptFlags& flags, PlanFile& plan);

/// Marks what a recipe or a config sets that is not read as open; a recipe is reported, too.
void assume_recipe(ForeignReading& r, const ScriptFlags& flags, PlanFile& plan);

}  // namespace rankwright::importer
