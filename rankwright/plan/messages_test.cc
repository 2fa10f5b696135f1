#include "rankwright/plan/messages.h"

#include <gtest/gtest.h>

#include "tests/support/sample.h"

namespace rankwright::plan {
namespace messages_test {

using sample::dense_config;
using sample::dense_layer;
using sample::sparse_layer;

TEST(Messages, HoldTheTokensOfACpRankInTheActivationFormat) {
  // 2 sequences x 2048 tokens / cp 4 = 1024 tokens, 1024 wide
  TrainingConfig config = dense_config({.cp = 4, .micro_batch = 2});
  EXPECT_EQ(compute_messages(config).hidden, bytes(1024 * 1024, 2));
  EXPECT_EQ(compute_messages(config).kept, compute_messages(config).hidden);
  EXPECT_EQ(compute_messages(config).scores, bytes(1024, 4));
  config.job.param_dtype = Dtype::fp8;  // activations stay at 16 bits
  EXPECT_EQ(compute_messages(config).hidden, bytes(1024 * 1024, 2));
}

TEST(Messages, Fp64_IsEightBytesPerElementIncludingTheLoss) {
  TrainingConfig config = dense_config({.cp = 4, .micro_batch = 2});
  config.job.param_dtype = Dtype::fp64;
  EXPECT_EQ(compute_messages(config).hidden, bytes(1024 * 1024, 8));
  EXPECT_EQ(compute_messages(config).scores, bytes(1024, 8));
}

TEST(Messages, SequenceParallelism_KeepsAPartPerTpRank) {
  TrainingConfig config = dense_config({.tp = 4, .sequence_parallel = true});
  EXPECT_EQ(compute_messages(config).hidden, bytes(2048 * 1024, 2));
  EXPECT_EQ(compute_messages(config).kept, bytes(512 * 1024, 2));
  config.plan.tp = 1;  // nothing to split
  EXPECT_FALSE(sequence_parallel(config.plan));
  EXPECT_EQ(compute_messages(config).kept, compute_messages(config).hidden);
}

TEST(AttentionMessages, HoldTheHeadsOfATpRank) {
  // 16 heads of 64 over tp 8: 2 heads, 128 wide; 4 key-value heads: one each, 64 wide
  const AttentionMessages sizes =
      compute_messages(dense_config({.tp = 8}), dense_layer().attention);
  EXPECT_EQ(sizes.query, bytes(2048 * 128, 2));
  EXPECT_EQ(sizes.key, bytes(2048 * 64, 2));
  EXPECT_EQ(sizes.value, sizes.key);
  EXPECT_EQ(sizes.output, sizes.query);
}

TEST(AttentionMessages, LatentAttention_IsExpandedPerHead) {
  // Every head has keys of its own, 16 + 8 wide, and values of 12: 4 heads over tp 2.
  const model::Attention latent{.kind = model::Attention::Kind::latent,
                                .heads = 4,
                                .kv_rank = 40,
                                .nope_dim = 16,
                                .rope_dim = 8,
                                .value_dim = 12};
  const AttentionMessages sizes = compute_messages(dense_config({.tp = 2}), latent);
  EXPECT_EQ(sizes.query, bytes(2048 * 48, 2));
  EXPECT_EQ(sizes.key, sizes.query);
  EXPECT_EQ(sizes.value, bytes(2048 * 24, 2));
  EXPECT_EQ(sizes.output, sizes.value);
}

TEST(BlockInputs, AreHiddenStatesUnlessAttentionCompresses) {
  // 2048 tokens, 1024 wide, 2 bytes; no second or third tensor.
  const TrainingConfig config = dense_config({.tp = 2, .sequence_parallel = true});
  const std::array<Bytes, 3> hidden{bytes(2048 * 1024, 2)};
  EXPECT_EQ(compute_block_inputs(config).tensors, hidden);
  EXPECT_EQ(compute_block_inputs(config, dense_layer().attention).tensors, hidden);
}

TEST(BlockInputs, LatentAttention_HasCompressedQueriesAndKeysAndRotaryKeys) {
  // Widths of 24, 40 and 8. The matmuls after the compression read the first two. Queries without
  // compression are made from hidden states.
  model::Attention latent{.kind = model::Attention::Kind::latent,
                          .heads = 4,
                          .q_rank = 24,
                          .kv_rank = 40,
                          .nope_dim = 16,
                          .rope_dim = 8,
                          .value_dim = 12};
  const TrainingConfig config = dense_config({.tp = 2, .sequence_parallel = true});
  const BlockInputs inputs = compute_block_inputs(config, latent);
  EXPECT_EQ(inputs.tensors,
            (std::array<Bytes, 3>{bytes(2048 * 24, 2), bytes(2048 * 40, 2), bytes(2048 * 8, 2)}));
  ASSERT_EQ(inputs.of_matmuls().size(), 2u);
  EXPECT_EQ(inputs.of_matmuls()[1], bytes(2048 * 40, 2));
  latent.q_rank = 0;
  EXPECT_EQ(compute_block_inputs(config, latent).tensors[0], bytes(2048 * 1024, 2));
}

TEST(ExpertMessage, HoldsOneCopyPerActiveExpert) {
  const TrainingConfig config = dense_config({.tp = 2, .sequence_parallel = true});
  EXPECT_EQ(compute_expert_message(config, sparse_layer().ffn), 2 * bytes(1024 * 1024, 2));
}

TEST(ExpertMessage, DispatchIn8BitsIsTheMeanOfBothExchanges) {
  // Dispatched: 1 byte per element and a scale of 4 per 128. Combined: 2.
  TrainingConfig config = dense_config({});
  config.software.fp8_dispatch = true;
  EXPECT_EQ(compute_expert_message(config, sparse_layer().ffn), 2 * bytes(2048 * 1024, 2));
  config.job.matmul = Matmul::fp8;
  EXPECT_EQ(compute_expert_message(config, sparse_layer().ffn),
            2 * bytes(2048 * 1024, (1 + 4.0 / 128 + 2) / 2));
}

TEST(BoundaryMessage, IncludesTheOutputsOfMtp) {
  const TrainingConfig config = dense_config({.pp = 2});
  EXPECT_EQ(compute_boundary_message(config, 0), bytes(2048 * 1024, 2));
  EXPECT_EQ(compute_boundary_message(config, 2), 3 * bytes(2048 * 1024, 2));
}

TEST(MtpUntil, IncludesTheStageItself) {
  const Stages stages = *parse_layout("Et|m|mL");
  EXPECT_EQ(count_mtp_until(stages, 0), 0);
  EXPECT_EQ(count_mtp_until(stages, 1), 1);
  EXPECT_EQ(count_mtp_until(stages, 2), 2);
  EXPECT_EQ(count_mtp_until(stages, 100), 2);
  EXPECT_EQ(count_mtp_until({}, 0), 0);
}

}  // namespace messages_test
}  // namespace rankwright::plan
