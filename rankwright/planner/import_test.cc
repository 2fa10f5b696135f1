#include "rankwright/planner/import.h"

#include <gmock/gmock.h>

namespace rankwright::planner {
namespace import_test {

using ::testing::HasSubstr;

constexpr const char* kScript =
    "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 16 --hidden-size 2048 "
    "--num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
    "--micro-batch-size 1 --global-batch-size 32\n";

constexpr const char* kConfig =
    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048,
        "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 16, "vocab_size": 128256, "tie_word_embeddings": true})";

TEST(ImportFile, MegatronScript_IsAPlan) {
  const Outcome<ImportAnswer> answer = import_file({.inputs = {{"train.sh", kScript}}, .world = 8});
  ASSERT_TRUE(answer.has_value());
  const ImportedPlan* const plan = std::get_if<ImportedPlan>(&*answer);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->input.config->plan.tp, 2);
  EXPECT_EQ(plan->input.config->world, 8);
  EXPECT_TRUE(plan->valid);
}

TEST(ImportFile, HuggingFaceConfig_IsAModel) {
  const Outcome<ImportAnswer> answer = import_file({.inputs = {{"config.json", kConfig}}});
  ASSERT_TRUE(answer.has_value());
  const ImportedModel* const made = std::get_if<ImportedModel>(&*answer);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->model.layers(), 16);
  ASSERT_EQ(made->origins.size(), 1u);
  EXPECT_THAT(made->origins[0], HasSubstr("From config.json"));
}

TEST(ImportFile, ConfigNextToAnIndex_IsReadWithTheGivenReader) {
  std::vector<std::string> asked;
  const ImportRequest request{.inputs = {{"m/model.safetensors.index.json", "{}"}},
                              .files = [&](const std::string& path) -> Result<std::string> {
                                asked.push_back(path);
                                return fail({.code = "RW0901", .message = "gone"});
                              }};
  const Outcome<ImportAnswer> answer = import_file(request);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::unreadable);
  EXPECT_THAT(asked, ::testing::ElementsAre("m/config.json"));
}

TEST(ImportFile, UnknownFormatOrCollective_IsAUsageError) {
  EXPECT_EQ(import_file({.inputs = {{"x", ""}}, .from = "megatrn"}).error().hint,
            "did you mean megatron?");
  EXPECT_EQ(import_file({.inputs = {{"x", ""}}, .collective = "gather"}).error().message,
            "there is no collective 'gather'");
}

TEST(ImportFile, UnrecognizedClusterFile_IsRefusedWithItsSources) {
  const Outcome<ImportAnswer> answer =
      import_file({.inputs = {{"notes.txt", "hello\n"}}, .device = "h100-sxm"});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::unreadable);
  EXPECT_TRUE(answer.error().sources.has_value());
  EXPECT_EQ(answer.error().findings[0].code, "RW0603");
}

TEST(ImportFile, TwoFilesForAPlan_AreRefused) {
  const Outcome<ImportAnswer> answer =
      import_file({.inputs = {{"train.sh", kScript}, {"other.sh", kScript}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "one thing too many: 'other.sh'");
}

}  // namespace import_test
}  // namespace rankwright::planner
