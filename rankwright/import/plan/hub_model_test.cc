#include "rankwright/import/plan/hub_model.h"

#include <gmock/gmock.h>

#include "rankwright/model/parameters.h"

namespace rankwright::importer {
namespace hub_model_test {

TEST(HubModel, NamesOfOneShape_AreOneModel) {
  for (const char* const name :
       {"meta-llama/Llama-3.1-8B-Instruct", "/data/models/Meta-Llama-3.1-8B/", "llama3.1_8B.yaml",
        "deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "me/Llama-3.1-8B-sft-mixture_v2"}) {
    const std::optional<model::Model> model = find_hub_model(name);
    ASSERT_TRUE(model.has_value()) << name;
    EXPECT_EQ(model->name, "llama-3.1-8b") << name;
  }
  EXPECT_EQ(find_hub_model("Qwen/Qwen2.5-Math-7B")->name, "qwen2.5-7b");
  EXPECT_EQ(find_hub_model("deepseek_r1_671b")->name, "deepseek-v3");
  EXPECT_EQ(find_hub_model("qwen25_500m")->name, "qwen2.5-0.5b");
  EXPECT_EQ(find_hub_model("lmsys/vicuna-13b-v1.5")->name, "llama-2-13b");
  EXPECT_EQ(find_hub_model("/hub/models--Qwen--Qwen2.5-7B/snapshots/main_no_yarn")->name,
            "qwen2.5-7b");
  EXPECT_EQ(find_hub_model("allenai/Llama-3.1-Tulu-3-8B-SFT")->name, "llama-3.1-8b");
}

TEST(HubModel, OtherModels_AreNotGuessed) {
  for (const char* const name :
       {"", "/", "Qwen/Qwen2.5-VL-7B-Instruct", "llama", "gpt2-of-mine", "Qwen/Qwen3-VL-8B"})
    EXPECT_FALSE(find_hub_model(name).has_value()) << name;
}

// huggingface_hub keeps a model at models--ORGANIZATION--NAME/snapshots/REVISION, and a trainer its
// checkpoints below the folder that is named after the model.
TEST(HubModel, FoldersOfCachesAndCheckpoints_AreNoNames) {
  for (const char* const path :
       {"ckpts/models--Qwen--Qwen2.5-7B-Instruct/snapshots/"
        "a09a35458c702b33eeacc393d103063234e8bc28",
        "/x/Qwen2.5-7B_sft_star/checkpoint-887", "out/Qwen2.5-7B/global_step_100/actor/huggingface",
        "Qwen2.5-7B/v1/", "Qwen2.5-7B/final/5"}) {
    const std::optional<model::Model> model = find_hub_model(path);
    ASSERT_TRUE(model.has_value()) << path;
    EXPECT_EQ(model->name, "qwen2.5-7b") << path;
  }
  EXPECT_FALSE(find_hub_model("checkpoint-887").has_value());
  EXPECT_FALSE(find_hub_model("a/final").has_value());
}

TEST(HubModel, LanguageModelBehindAnEncoder) {
  EXPECT_EQ(find_language_model("Qwen/Qwen2.5-VL-7B-Instruct")->name, "qwen2.5-7b");
  EXPECT_EQ(find_language_model("liuhaotian/llava-v1.5-13b")->name, "llama-2-13b");
  EXPECT_FALSE(find_language_model("Qwen/Qwen2.5-7B").has_value());
}

TEST(HubModel, SizeInAName_SelectsADenseModelNearIt) {
  EXPECT_EQ(find_model_of_size("me/my_model-4B-v2"), "qwen3-4b");  // 4.02 B
  EXPECT_EQ(find_model_of_size("mine_350m"), "qwen2-0.5b");        // 494 M
  for (const char* const name : {"", "mine", "v2", "mix-8x7b", "my-30b-a3b", "big-900b", "4bit"})
    EXPECT_EQ(find_model_of_size(name), "") << name;
  // The smallest model is nearer to a smaller one than the usual assumption.
  const std::string smallest = find_model_of_size("tiny-10m");
  EXPECT_EQ(find_model_of_size("facebook/opt-60m"), smallest);
  EXPECT_LT(count_parameters(find_hub_model(smallest).value()).total(), 600'000'000);
}

TEST(HubModel, OwnersAndVersions_AreNoPartsOfTheName) {
  EXPECT_EQ(find_hub_model("/inputs/models/qwen__qwen3-8b-base-25-04-28/")->name, "qwen3-8b");
  EXPECT_EQ(find_hub_model("/path/Vicuna-1.5-7B")->name, "llama-2-7b");
  EXPECT_EQ(find_language_model("Qwen/Qwen3-VL-2B-Instruct")->name, "qwen3-1.7b");
}

}  // namespace hub_model_test
}  // namespace rankwright::importer
