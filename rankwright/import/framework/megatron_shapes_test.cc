// Shapes that Megatron-LM combines freely: gated MLPs of GPT, windows, and where the vocabulary is
// stated.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"

namespace rankwright::importer {
namespace megatron_shapes_test {

using ::testing::Each;
using ::testing::Field;
using ::testing::Ne;

PlanFile read(const std::string& flags) {
  return read_any_plan(
      "pretrain_gpt.py --num-layers 24 --hidden-size 2048 --ffn-hidden-size 5504 \\\n"
      "  --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \\\n"
      "  --micro-batch-size 1 --bf16 " +
          flags + "\n",
      "train.sh", refuse_file);
}

// A GPT with learned positions and LayerNorm, which no family of the catalog has with a gated MLP:
// 24 layers x 5504 x 2048 more parameters, and 24 x 5504 of their biases.
TEST(MegatronShapes, GatedMlpOfAGpt_HasThreeMatrices) {
  const PlanFile plain = read("--vocab-size 50304"), gated = read("--vocab-size 50304 --swiglu");
  ASSERT_TRUE(plain.draft.model && gated.draft.model);
  EXPECT_EQ(gated.draft.model->layer(0).ffn.matrices, 3);
  EXPECT_EQ(
      count_parameters(*gated.draft.model).total() - count_parameters(*plain.draft.model).total(),
      i64{24} * 5504 * 2048 + 24 * 5504);
  EXPECT_THAT(gated.findings, Each(Field(&Diagnostic::code, Ne("RW0601"))));
}

// (127,0): the token itself and the 127 before it.
TEST(MegatronShapes, WindowSize_IsReadWithTheTokenItself) {
  EXPECT_EQ(read("--vocab-size 50304 --window-size 127,0").draft.model->window, 128);
  EXPECT_EQ(read("--vocab-size 50304 --window-size \"(4095,0)\"").draft.model->window, 4096);
  EXPECT_EQ(read("--vocab-size 50304 --window-size -1,-1").draft.model->window, 0);
  EXPECT_EQ(read("--vocab-size 50304").draft.model->window, 0);
}

TEST(MegatronShapes, FindingsAboutTheVocabulary_PointAtIt) {
  EXPECT_EQ(read("\\\n --vocab-size 50257").where("model.vocab").line, 4);
  EXPECT_EQ(read("\\\n --tokenizer-type GPT2BPETokenizer").where("model.vocab").line, 4);
  EXPECT_EQ(read("").where("model.vocab").line, 1);  // nothing states it: the shapes
}

}  // namespace megatron_shapes_test
}  // namespace rankwright::importer
