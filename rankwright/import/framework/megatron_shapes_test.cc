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
  EXPECT_EQ(read("--vocab-size 50304 --window-size 127,0").draft.model->layer(0).attention.window,
            128);
  EXPECT_EQ(
      read("--vocab-size 50304 --window-size \"(4095,0)\"").draft.model->layer(0).attention.window,
      4096);
  EXPECT_EQ(read("--vocab-size 50304 --window-size -1,-1").draft.model->layer(0).attention.window,
            0);
  EXPECT_EQ(read("--vocab-size 50304").draft.model->layer(0).attention.window, 0);
}

// 24 layers: every fourth has full attention, or those with a 0 in the list.
TEST(MegatronShapes, WindowSkipFrequency_SetsThePattern) {
  const std::string window = "--vocab-size 50304 --window-size 127,0 --window-attn-skip-freq ";
  const PlanFile every = read(window + "4"), listed = read(window + "\"[0]*2+[1]*22\"");
  ASSERT_TRUE(every.draft.model && listed.draft.model);
  for (i64 i = 0; i < 24; ++i) {
    EXPECT_EQ(every.draft.model->layer(i).attention.window, (i + 1) % 4 == 0 ? 0 : 128) << i;
    EXPECT_EQ(listed.draft.model->layer(i).attention.window, i < 2 ? 0 : 128) << i;
  }
}

// Flags combine freely, whatever family has them: RMSNorm and norms on Q and K of a plain MLP.
TEST(MegatronShapes, NormsOfAGpt_AreThoseOfTheFlags) {
  const PlanFile plain = read("--vocab-size 50304");
  const PlanFile other = read("--vocab-size 50304 --normalization RMSNorm --qk-layernorm");
  ASSERT_TRUE(plain.draft.model && other.draft.model);
  EXPECT_TRUE(plain.draft.model->norm_bias);
  EXPECT_FALSE(other.draft.model->norm_bias);
  EXPECT_TRUE(other.draft.model->layer(0).attention.qk_norm);
  EXPECT_EQ(other.draft.model->layer(0).ffn.matrices, 2);
  EXPECT_THAT(other.findings, Each(Field(&Diagnostic::code, Ne("RW0601"))));
}

TEST(MegatronShapes, FindingsAboutTheVocabulary_PointAtIt) {
  EXPECT_EQ(read("\\\n --vocab-size 50257").where("model.vocab").line, 4);
  EXPECT_EQ(read("\\\n --tokenizer-type GPT2BPETokenizer").where("model.vocab").line, 4);
  EXPECT_EQ(read("").where("model.vocab").line, 1);  // nothing states it: the shapes
}

// BigCode's multi-query attention has one head of keys and values.
TEST(MegatronShapes, MultiQueryAttention_IsRead) {
  const PlanFile plan = read("--vocab-size 50304 --attention-head-type multiquery");
  ASSERT_TRUE(plan.draft.model);
  EXPECT_EQ(plan.draft.model->layer(0).attention.kv_heads, 1);
  EXPECT_THAT(plan.findings, Each(Field(&Diagnostic::code, Ne("RW0618"))));
}

// The files of a byte-pair tokenizer need not be GPT-2's: their names count, and say so.
TEST(MegatronShapes, FilesOfATokenizer_StateItsSize) {
  const auto vocabulary = [](const std::string& file) {
    const PlanFile plan = read("--tokenizer-type GPT2BPETokenizer --vocab-file " + file);
    std::string assumed;
    for (const Diagnostic& one : plan.findings)
      if (one.code == "RW0615") assumed += one.detail;
    return std::to_string(plan.draft.model ? plan.draft.model->vocab : 0) + " " + assumed;
  };
  EXPECT_EQ(vocabulary("data/gpt2-vocab.json"), "50257 ");
  EXPECT_EQ(vocabulary("vocab.json"), "50257 ");
  EXPECT_EQ(vocabulary("'<a/path>'"), "50257 ");
  EXPECT_EQ(vocabulary("/t/ours_96000/vocab.json"),
            "96000 vocabulary size 96,000: by the name of --vocab-file");
  EXPECT_EQ(vocabulary("/t/ours/vocab.json"),
            "50257 vocabulary size 50,257: that of GPT-2; --vocab-file may have another");
}

}  // namespace megatron_shapes_test
}  // namespace rankwright::importer
