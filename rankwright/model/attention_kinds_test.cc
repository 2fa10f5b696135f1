// Parameters and FLOPs of each kind of attention, by hand.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/model/architecture.h"
#include "rankwright/model/flops.h"
#include "rankwright/model/parameters.h"
#include "tests/support/shapes.h"

namespace rankwright::model {
namespace attention_kinds_test {

// Mistral-7B: 32 heads of 128, 8 of keys and values, a window of 4,096.
Attention windowed(i64 window) {
  return {.heads = 32, .kv_heads = 8, .head_dim = 128, .window = window};
}

TEST(ScoreLength, Window_MatchesTheWorkedExample) {
  // 16,384 tokens read 4096 * 16,384 - 4096^2 / 2 keys; full attention over a length of E reads
  // 16,384 * E / 2: E = 2 * 4096 - 4096^2 / 16,384 = 8192 - 1024.
  EXPECT_DOUBLE_EQ(compute_score_length(windowed(4096), 16384), 7168);
  EXPECT_DOUBLE_EQ(core_forward_flops(windowed(4096), 16384).value, 7168.0 * (4096 + 4096));
  // A window as long as the sequence, or none, is full attention.
  EXPECT_DOUBLE_EQ(compute_score_length(windowed(4096), 4096), 4096);
  EXPECT_DOUBLE_EQ(compute_score_length(windowed(0), 16384), 16384);
}

TEST(ScoreLength, Chunks_MatchTheWorkedExample) {
  // Llama 4: chunks of 8,192 in 20,480 tokens: two whole chunks and one of 4,096:
  // (2 * 8192^2 + 4096^2) / 20,480 = 7,372.8
  Attention chunked = windowed(8192);
  chunked.chunked = true;
  EXPECT_DOUBLE_EQ(compute_score_length(chunked, 20480), 7372.8);
  EXPECT_DOUBLE_EQ(compute_score_length(chunked, 32768), 8192);
}

TEST(ScoreLength, Indexer_SelectsTokensAndScoresAll) {
  // DeepSeek-V3.2 at 65,536 tokens: 2,048 selected, 2 * 2048 - 2048^2 / 65,536 = 4,032. Keys are
  // 192 wide and values 128 in 128 heads; 64 heads of 128 of the indexer score every token.
  const Attention dsa{.kind = Attention::Kind::latent,
                      .heads = 128,
                      .q_rank = 1536,
                      .kv_rank = 512,
                      .nope_dim = 128,
                      .rope_dim = 64,
                      .value_dim = 128,
                      .index_heads = 64,
                      .index_dim = 128,
                      .index_topk = 2048};
  EXPECT_DOUBLE_EQ(compute_score_length(dsa, 65536), 4032);
  EXPECT_DOUBLE_EQ(core_forward_flops(dsa, 65536).value,
                   4032.0 * 128 * (192 + 128) + 65536.0 * 64 * 128);
  // The indexer: 1536 * 64 * 128 queries + 7168 * 128 keys + 7168 * 64 weights.
  Attention dense = dsa;
  dense.index_heads = dense.index_dim = dense.index_topk = 0;
  EXPECT_EQ(count_attention_weights(7168, dsa) - count_attention_weights(7168, dense),
            1536 * 64 * 128 + 7168 * 128 + 7168 * 64);
}

TEST(Recurrence, GatedDeltaNet_MatchesTheWorkedExample) {
  // Qwen3-Next-80B-A3B: 32 heads of values and 16 of keys, each 128 wide, 4 taps.
  // Input 2048 * (2 * 2048 + 2 * 4096 + 2 * 32), output 4096 * 2048, convolution 4 * (2 * 2048 +
  // 4096) weights.
  const Attention delta{.kind = Attention::Kind::delta,
                        .heads = 32,
                        .kv_heads = 16,
                        .head_dim = 128,
                        .state = 128,
                        .conv = 4};
  EXPECT_EQ(count_attention_weights(2048, delta),
            2048 * (4096 + 8192 + 64) + 4096 * 2048 + 4 * 8192);
  // Four products with the state of 128 x 128 of each head; the sequence does not matter.
  EXPECT_DOUBLE_EQ(core_forward_flops(delta, 8192).value, 8.0 * 32 * 128 * 128);
  EXPECT_EQ(core_forward_flops(delta, 8192), core_forward_flops(delta, 1 << 20));
}

TEST(Recurrence, Mamba2_MatchesTheWorkedExample) {
  // Nemotron-H-8B: 128 heads of 64, 8 groups of a state of 128, 4 taps with a bias.
  // Input 4096 * (2 * 8192 + 2 * 1024 + 128), output 8192 * 4096, convolution 4 * (8192 + 2 *
  // 1024).
  const Attention mamba{.kind = Attention::Kind::mamba,
                        .heads = 128,
                        .kv_heads = 8,
                        .head_dim = 64,
                        .state = 128,
                        .conv = 4,
                        .conv_bias = true};
  EXPECT_EQ(mamba.projected_width(), 18560);
  EXPECT_EQ(count_attention_weights(4096, mamba), 4096 * 18560 + 8192 * 4096 + 4 * 10240);
  // Megatron-LM counts 7 FLOPs per element of the state for the scan.
  EXPECT_DOUBLE_EQ(core_forward_flops(mamba, 4096).value, 7.0 * 8192 * 128);
  // Vectors: bias of the convolution 10,240, A, D and the time step's bias 3 * 128; the norm 8,192.
  const Model model{.hidden = 4096};
  const Layer layer{.attention = mamba, .ffn = {}, .norms = 1};
  EXPECT_EQ(count_parameters(model, layer),
            (Parameters{.attention = count_attention_weights(4096, mamba) + 10240 + 3 * 128,
                        .norms = 4096 + 8192}));
}

TEST(Recurrence, LightningAttention_MatchesTheWorkedExample) {
  // 64 heads of 128: Q, K, V and the gate 6144 * 4 * 8192, output 8192 * 6144; written and read
  // once.
  const Attention lightning{.kind = Attention::Kind::lightning,
                            .heads = 64,
                            .kv_heads = 64,
                            .head_dim = 128,
                            .state = 128};
  EXPECT_EQ(count_attention_weights(6144, lightning), i64{6144} * 5 * 8192);
  EXPECT_DOUBLE_EQ(core_forward_flops(lightning, 4096).value, 4.0 * 64 * 128 * 128);
}

TEST(Attention, GateSinksAndWideNorms_AddTheirParameters) {
  const Model model{.hidden = 96};
  Layer layer{.attention = {.heads = 6, .kv_heads = 2, .head_dim = 20}, .ffn = {}, .norms = 1};
  const i64 plain = count_parameters(model, layer).total();
  layer.attention.gated = true;  // 96 x 6 * 20
  EXPECT_EQ(count_parameters(model, layer).total(), plain + 96 * 120);
  layer.attention.gated = false;
  layer.attention.sinks = true;  // one per head
  EXPECT_EQ(count_parameters(model, layer).total(), plain + 6);
  layer.attention.sinks = false;
  layer.attention.qk_norm = layer.attention.wide_norm = true;  // 6 * 20 + 2 * 20
  EXPECT_EQ(count_parameters(model, layer).total(), plain + 160);
}

TEST(Pattern, RepeatsOverTheLayers) {
  const Model model = *build({.architecture = "gemma3",
                              .hidden = 64,
                              .layers = 8,
                              .heads = 4,
                              .ffn = 128,
                              .vocab = 100,
                              .window = 1024});
  for (i64 i = 0; i < 8; ++i)
    EXPECT_EQ(model.layer(i).attention.window, (i + 1) % 6 == 0 ? 0 : 1024) << i;
  EXPECT_EQ(model.runs.size(), 3U);  // five windows, one full, two windows
}

TEST(Pattern, UnknownLetter_IsRefused) {
  Shapes shapes{.architecture = "llama", .hidden = 64, .layers = 4, .heads = 4};
  shapes.ffn = shapes.vocab = 100;
  shapes.pattern = "FL";  // llama has no linear attention
  EXPECT_EQ(build(shapes).error().key, "pattern");
  shapes.pattern = "FFFFF";  // longer than the model
  EXPECT_EQ(build(shapes).error().key, "pattern");
  shapes.pattern = "FW";
  EXPECT_TRUE(build(shapes));
}

TEST(SingleBlocks, Layers_HaveAttentionOrAFeedForward) {
  Shapes shapes{.architecture = "nemotron_h", .hidden = 64, .layers = 4, .heads = 4};
  shapes.ffn = shapes.vocab = 100;
  shapes.pattern = "M-*-";
  shapes.linear_heads = 4, shapes.linear_dim = 16, shapes.linear_key_heads = 2;
  shapes.linear_key_dim = 8, shapes.linear_conv = 4;
  const Model model = *build(shapes);
  EXPECT_EQ(model.layer(0).attention.kind, Attention::Kind::mamba);
  EXPECT_EQ(model.layer(1).attention.kind, Attention::Kind::none);
  EXPECT_EQ(model.layer(2).attention.kind, Attention::Kind::grouped);
  for (i64 i = 0; i < 4; ++i) EXPECT_EQ(model.layer(i).blocks(), 1);
  EXPECT_EQ(count_parameters(model, model.layer(1)),
            (Parameters{.mlp = 2 * 64 * 100, .norms = 64}));
}

// A shorter window never costs more, and none costs more than full attention.
RC_GTEST_PROP(ScoreLength, GrowsWithTheWindow, ()) {
  const i64 sequence = *rc::gen::inRange<i64>(1, 1 << 20);
  const i64 window = *rc::gen::inRange<i64>(1, 1 << 20);
  const double shorter = compute_score_length(windowed(window), sequence);
  RC_ASSERT(shorter <= compute_score_length(windowed(window + 1), sequence) + 1e-6);
  RC_ASSERT(shorter <= double(sequence));
  Attention chunked = windowed(window);
  chunked.chunked = true;
  RC_ASSERT(compute_score_length(chunked, sequence) <= shorter * (1 + 1e-12));
}

// The matmuls of a layer are among its parameters, whatever its kind.
RC_GTEST_PROP(AttentionWeights, AreAmongTheParameters, ()) {
  const Model model = *build(random_shapes());
  for (const LayerRun& run : model.runs)
    RC_ASSERT(count_attention_weights(model.hidden, run.layer.attention) <=
              count_parameters(model, run.layer).attention);
}

}  // namespace attention_kinds_test
}  // namespace rankwright::model
