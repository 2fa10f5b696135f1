#include "rankwright/planner/import.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace import_test {

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
  golden::expect("planner/import-origin.txt", made->origins[0] + "\n");
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
  const Outcome<ImportAnswer> format = import_file({.inputs = {{"x", ""}}, .from = "megatrn"});
  const Outcome<ImportAnswer> collective =
      import_file({.inputs = {{"x", ""}}, .collective = "gather"});
  ASSERT_FALSE(format.has_value() || collective.has_value());
  EXPECT_EQ(format.error().kind, Refusal::Kind::usage);
  EXPECT_EQ(collective.error().kind, Refusal::Kind::usage);
  golden::expect(
      "planner/import-refusals.txt",
      format_refusal("--from megatrn", format) + format_refusal("--collective gather", collective));
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
  golden::expect("planner/import-two-files.txt",
                 format_refusal("import train.sh other.sh", answer));
}

}  // namespace import_test
}  // namespace rankwright::planner
