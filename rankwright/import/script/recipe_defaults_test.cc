#include "rankwright/import/script/recipe_defaults.h"

#include <gmock/gmock.h>

namespace rankwright::importer {
namespace recipe_defaults_test {

using ::testing::Contains;
using ::testing::Pair;

// nemo/collections/llm/recipes/llama3_8b.py: CP 2, 512 sequences of 8,192 tokens.
TEST(RecipeDefaults, RecipeOfNemo_HasItsLayout) {
  const RecipeDefaults found = find_recipe_defaults("llama3_8b.pretrain_recipe");
  EXPECT_THAT(found.settings, Contains(Pair("context-parallel-size", "2")));
  EXPECT_THAT(found.settings, Contains(Pair("global-batch-size", "512")));
  EXPECT_THAT(found.settings, Contains(Pair("seq-length", "8192")));
  EXPECT_FALSE(found.source.empty());
  // Adapters need fewer ranks than whole weights.
  EXPECT_THAT(find_recipe_defaults("llama3_8b.finetune_recipe.lora").settings,
              Contains(Pair("tensor-model-parallel-size", "1")));
  EXPECT_THAT(find_recipe_defaults("llama3_8b.finetune_recipe.none").settings,
              Contains(Pair("tensor-model-parallel-size", "2")));
}

TEST(RecipeDefaults, RecipeOfBridge_HasItsLayout) {
  EXPECT_THAT(find_recipe_defaults("llama31_405b_pretrain_config").settings,
              Contains(Pair("num-virtual-stages-per-pipeline-rank", "2")));
  EXPECT_TRUE(find_recipe_defaults("my_pretrain_config").settings.empty());
  EXPECT_TRUE(find_recipe_defaults("").settings.empty());
  EXPECT_TRUE(find_recipe_defaults("#").settings.empty());
}

}  // namespace recipe_defaults_test
}  // namespace rankwright::importer
