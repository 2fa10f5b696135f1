// The layouts that the recipes of NeMo 2.0 and Megatron-Bridge state in their own code, as tables
// (scripts/list_recipe_defaults).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace rankwright::importer {

/// The settings of one recipe, as flags of Megatron-LM.
struct RecipeDefaults {
  std::string_view source{};  // the revision that they are from: "e2fdca1 of 2025-09-20"
  std::vector<std::pair<std::string_view, std::string_view>> settings{};  // empty if not known
};

/// Returns the model in the name of a recipe of Megatron-Bridge: "llama3_8b" of
/// "llama3_8b_pretrain_config". Empty for other names.
std::string_view find_recipe_model(std::string_view recipe);

/// Returns the settings of a recipe: "llama3_8b_pretrain_config", "llama3_8b.finetune_recipe.lora".
RecipeDefaults find_recipe_defaults(std::string_view name);

}  // namespace rankwright::importer
