#include "rankwright/plan/shares.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "rankwright/model/parameters.h"
#include "tests/support/sample.h"
#include "tests/support/shapes.h"

namespace rankwright::plan {
namespace shares_test {

using sample::config_of;
using sample::dense_config;
using sample::dense_layer;
using sample::model_of;
using sample::sparse_layer;

const model::Model kDense = model_of({{8, dense_layer()}});

TEST(LayerShare, OneRank_HoldsTheLayer) {
  // attention 2 x 1024 x 1024 + 2 x 1024 x 256 = 2,621,440; feed-forward 3 x 1024 x 4096 =
  // 12,582,912; two norms of 1024
  EXPECT_EQ(count_layer_share(kDense, dense_layer(), {}),
            (Share{.dense = 2'621'440 + 12'582'912 + 2048, .expert = 0, .sequence_shared = 2048}));
}

TEST(LayerShare, Tp_SplitsTheLayer) {
  // attention 2,621,440 / 4, feed-forward 12,582,912 / 4; the norms are on every rank
  EXPECT_EQ(count_layer_share(kDense, dense_layer(), {.tp = 4}).dense, 655'360 + 3'145'728 + 2048);
}

TEST(LayerShare, FewKeyValueHeads_AreRepeated) {
  // 4 key-value heads on 16 ranks: each holds one of 64. Query and output 2 x 1024 x 64, key and
  // value 2 x 1024 x 64; feed-forward 3 x 1024 x 256.
  EXPECT_EQ(count_layer_share(kDense, dense_layer(), {.tp = 16}).dense,
            131'072 + 131'072 + 786'432 + 2048);
}

TEST(LayerShare, BiasesAfterAReduction_AreNotSplit) {
  model::Layer layer = dense_layer();
  layer.attention.qkv_bias = layer.attention.out_bias = layer.ffn.bias = true;
  layer.attention.qk_norm = true;
  const Share plain = count_layer_share(kDense, dense_layer(), {.tp = 4});
  const Share biased = count_layer_share(kDense, layer, {.tp = 4});
  // split: query 256, key and value 64 each, two matrices of the feed-forward 1024 each
  // not split: 1024 after attention, 1024 after the feed-forward, norms of 64 for queries and keys
  EXPECT_EQ(biased.sequence_shared - plain.sequence_shared, 1024 + 1024 + 128);
  EXPECT_EQ(biased.dense - plain.dense, 256 + 2 * 64 + 2 * 1024 + 1024 + 1024 + 128);
}

TEST(LayerShare, LatentAttention_DoesNotSplitTheDownProjections) {
  model::Model model = model_of({});
  model::Layer layer = dense_layer();
  layer.attention = {.kind = model::Attention::Kind::latent,
                     .heads = 16,
                     .q_rank = 512,
                     .kv_rank = 256,
                     .nope_dim = 64,
                     .rope_dim = 32,
                     .value_dim = 64};
  const Share share = count_layer_share(model, layer, {.tp = 2});
  // not split: 1024 x 512 + 512 (norm); 1024 x (256 + 32) + 256 (norm); two norms of 1024
  const i64 whole = 524'288 + 512 + 294'912 + 256 + 2048;
  // split in 2: queries 512 x 16 x 96; keys and values 256 x 16 x 128; output 16 x 64 x 1024;
  // feed-forward 12,582,912
  const i64 cut = (786'432 + 524'288 + 1'048'576 + 12'582'912) / 2;
  EXPECT_EQ(share, (Share{.dense = cut + whole, .expert = 0, .sequence_shared = whole}));
}

TEST(LayerShare, Experts_AreSplitByEpAndEtp) {
  model::Layer layer = sparse_layer();
  layer.ffn.router_bias = layer.ffn.shared_gate = true;
  const Share share = count_layer_share(kDense, layer, {.tp = 2, .ep = 4, .etp = 2});
  // 8 experts / 4, each 3 x 1024 x 512 / 2
  EXPECT_EQ(share.expert, 2 * 786'432);
  // router 1024 x 8 + 8, the shared expert's gate 1024, two norms of 1024: on every tp rank
  EXPECT_EQ(share.sequence_shared, 8192 + 8 + 1024 + 2048);
  // attention 2,621,440 / 2, the shared expert 3 x 1024 x 1024 / 2
  EXPECT_EQ(share.dense - share.sequence_shared, 1'310'720 + 1'572'864);
}

TEST(LayerShare, Experts_IncludeTheirOutputBias) {
  model::Layer layer = sparse_layer();
  layer.ffn.bias = true;
  // 2 experts, split in 2: 3 x 1024 x 256, biases of two matrices 256 each; the last bias of 1024
  // is not split
  EXPECT_EQ(count_layer_share(kDense, layer, {.ep = 4, .etp = 2}).expert,
            2 * (786'432 + 512 + 1024));
}

TEST(VocabularyShare, IsRoundedUp) {
  model::Model model = kDense;
  model.vocab = 50257;  // = 8 x 6282 + 1
  EXPECT_EQ(count_vocabulary_rows(model, 8), 6283);
  EXPECT_EQ(count_vocabulary_rows(model, 1), 50257);
}

TEST(RankShare, EmbeddingIsFirstAndHeadIsLast) {
  const TrainingConfig config = dense_config({.tp = 2, .pp = 4});
  const i64 layers = 2 * count_layer_share(kDense, dense_layer(), config.plan).dense;
  EXPECT_EQ(count_rank_share(config, 0).dense, layers + 16000 * 1024);
  EXPECT_EQ(count_rank_share(config, 1).dense, layers);
  EXPECT_EQ(count_rank_share(config, 3).dense, layers + 16000 * 1024 + 1024);  // and the final norm
}

TEST(RankShare, TiedWeight_IsHeldOncePerRankAndTwiceInAPipeline) {
  TrainingConfig one = dense_config({}), two = dense_config({.pp = 2});
  one.model.tied = two.model.tied = true;
  EXPECT_EQ(count_rank_share(one, 0).dense, count_parameters(one.model).total());
  EXPECT_EQ(count_rank_share(two, 0).dense + count_rank_share(two, 1).dense,
            count_parameters(two.model).total() + 32000 * 1024);
}

TEST(RankShare, Mirror_HoldsTwoStages) {
  // DualPipe on 4 ranks: rank 0 has stages 0 and 3, rank 2 stages 1 and 2, with two layers each.
  const TrainingConfig config =
      dense_config({.pp = 4, .schedule = pipeline::Schedule::dualpipe}, 8);
  const i64 layers = 4 * count_layer_share(kDense, dense_layer(), config.plan).dense;
  EXPECT_EQ(count_rank_share(config, 0).dense, layers + 2 * 32000 * 1024 + 1024);
  EXPECT_EQ(count_rank_share(config, 2).dense, layers);
  EXPECT_EQ(count_rank_share(config, 0), count_rank_share(config, 3));
}

TEST(RankShare, Mirror_HoldsATiedWeightOnce) {
  TrainingConfig tied = dense_config({.pp = 2, .schedule = pipeline::Schedule::dualpipe});
  tied.model.tied = true;
  EXPECT_EQ(count_rank_share(tied, 0).dense, count_parameters(tied.model).total());
  EXPECT_EQ(count_rank_share(tied, 1).dense, count_parameters(tied.model).total());
}

TEST(RankShare, TiedHead_KeepsItsBias) {
  TrainingConfig config = dense_config({});
  config.model.tied = config.model.head_bias = true;
  EXPECT_EQ(count_rank_share(config, 0).dense, count_parameters(config.model).total());
}

TEST(RankShare, Mtp_HasACopyOfTheEmbedding) {
  // An MTP module embeds the next tokens: on a rank without the embedding it needs a copy of it.
  TrainingConfig plain = dense_config({.pp = 2}), config = dense_config({.pp = 2});
  config.model.mtp_layers = 1;
  EXPECT_EQ(count_rank_share(config, 0), count_rank_share(plain, 0));
  EXPECT_EQ(count_rank_share(config, 1).dense - count_rank_share(plain, 1).dense,
            count_mtp_parameters(config.model).total() + 32000 * 1024);
}

/// Returns the number of pp ranks that hold each parameter.
i64 times(const TrainingConfig& config) { return config.plan.mirrored() ? 2 : 1; }

/// Returns the copies of the vocabulary matrix in the pipeline beyond those that the model counts.
i64 copies(const TrainingConfig& config) {
  i64 held = 0;
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const RankContents on_rank = contents(config, r);
    const bool embeds = on_rank.embedding || on_rank.mtp > 0;
    held += embeds ? 1 : 0;
    held += on_rank.loss && !(config.model.tied && embeds) ? 1 : 0;
  }
  return held - times(config) * (config.model.tied ? 1 : 2);
}

RC_GTEST_PROP(RankShare, SumOverThePipeline_IsTheModel, ()) {
  TrainingConfig config = sample::random_config();
  config.plan.tp = config.plan.ep = config.plan.etp = 1;
  i64 sum = 0;
  for (i64 r = 0; r < config.plan.pp; ++r) sum += count_rank_share(config, r).total();
  const model::Model& m = config.model;
  const i64 positions = m.mtp_layers > 0 && !contents(config, 0).mtp ? m.positions * m.hidden : 0;
  RC_ASSERT(sum == times(config) * (count_parameters(m).total() + count_mtp_parameters(m).total() +
                                    positions) +
                       copies(config) * m.vocab * m.hidden);
}

RC_GTEST_PROP(Holdings, Sum_IsTheRankShare, ()) {
  const TrainingConfig config = sample::random_config();
  const std::vector<Holding> by_stage = list_stage_holdings(config);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const std::vector<i64> stages = list_stages(config.plan, r);
    const std::vector<Holding> chunks = list_chunk_holdings(config, r);
    RC_ASSERT(chunks.size() == stages.size());
    Share sum;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      RC_ASSERT(chunks[i].share == by_stage[std::size_t(stages[i])].share);
      sum += chunks[i].share;
    }
    RC_ASSERT(sum == count_rank_share(config, r));
  }
}

TEST(Holdings, TiedWeight_IsHeldByTheStageThatEmbeds) {
  // A V shape of 2 ranks: rank 0 runs stage 0 with the embedding and stage 3 with the head.
  TrainingConfig config =
      dense_config({.pp = 2, .virtual_stages = 2, .schedule = pipeline::Schedule::zb_v});
  config.model.tied = true;
  const std::vector<Holding> chunks = list_chunk_holdings(config, 0);
  EXPECT_EQ(chunks[0].share.dense, 2 * 15'206'400 + 32'768'000);
  EXPECT_EQ(chunks[1].share.dense, 2 * 15'206'400 + 1024);  // the final norm
}

RC_GTEST_PROP(LayerShare, SumOverTpEpAndEtp_IsTheLayer, ()) {
  const model::Model model = sample::random_model();
  const model::Layer layer = model.runs.front().layer;
  const Plan plan{.tp = sample::one_of({1, 2, 4}),
                  .ep = sample::one_of({1, 2, 8}),
                  .etp = sample::one_of({1, 2, 4})};
  const bool repeats =
      layer.attention.kind == model::Attention::Kind::grouped && layer.attention.kv_heads < plan.tp;
  RC_PRE(!repeats);
  const Share share = count_layer_share(model, layer, plan);
  const model::Parameters whole = count_parameters(model, layer);
  const i64 split = share.dense - share.sequence_shared;
  RC_ASSERT(plan.tp * split + share.sequence_shared == whole.total() - whole.experts);
  const model::FeedForward& ffn = layer.ffn;
  const i64 biases = ffn.bias && ffn.sparse() ? ffn.experts / plan.ep * model.hidden : 0;
  RC_ASSERT(plan.ep * (plan.etp * (share.expert - biases) + biases) == whole.experts);
}

RC_GTEST_PROP(PartialWeights, AddUpToThePartialGradients, ()) {
  TrainingConfig config =
      sample::random_config(sample::coin() ? sample::random_model() : sample::random_known_model());
  config.plan.tp = sample::one_of({2, 4});
  config.plan.sequence_parallel = sample::coin();
  const auto sum = [](const std::vector<i64>& weights) {
    return std::accumulate(weights.begin(), weights.end(), i64{0});
  };
  for (const model::LayerRun& run : config.model.runs)
    RC_ASSERT(sum(list_partial_weights(config, run.layer)) ==
              count_partial_gradients(config.plan,
                                      count_layer_share(config.model, run.layer, config.plan)));
  RC_ASSERT(sum(list_partial_mtp_weights(config)) ==
            count_partial_gradients(config.plan, count_mtp_share(config)));
  RC_ASSERT(sum(list_partial_head_weights(config)) ==
            count_partial_gradients(config.plan, count_head_share(config.model, 2, true)));
}

RC_GTEST_PROP(RankShare, NeverGrowsWithTp, ()) {
  const TrainingConfig config = sample::random_config();
  TrainingConfig whole = config;
  whole.plan.tp = 1;
  for (i64 r = 0; r < config.plan.pp; ++r)
    RC_ASSERT(count_rank_share(config, r).dense <= count_rank_share(whole, r).dense);
}

TEST(LargestUnit, SmallModel_IsTheVocabulary) {
  // 32,000 x 1024 = 32,768,000 of the embedding; a layer has 15,206,400
  const TrainingConfig dense = dense_config({.dp = 2, .pp = 4, .zero = 3});
  EXPECT_EQ(largest_unit(dense, contents(dense, 0)), 32'768'000);
  EXPECT_EQ(largest_unit(dense, contents(dense, 1)), 15'206'400);
}

TEST(LargestUnit, UnshardedParameters_DoNotCount) {
  // Experts with a single data rank are not sharded: only the dense part of the layer is gathered,
  // with attention 2,621,440, shared expert 3 x 1024 x 1024, router 8192 and norms 2048.
  const TrainingConfig config =
      config_of(model_of({{8, sparse_layer()}}), {.dp = 8, .pp = 4, .ep = 8, .zero = 3});
  EXPECT_EQ(largest_unit(config, contents(config, 1)), 2'621'440 + 3'145'728 + 8192 + 2048);
}

// One rank holds every parameter of a layer, whatever its kind.
RC_GTEST_PROP(LayerShare, OneRankOfAnyFamily_HoldsTheLayer, ()) {
  const model::Model model = *model::build(random_shapes());
  for (const model::LayerRun& run : model.runs)
    RC_ASSERT(count_layer_share(model, run.layer, {}).total() ==
              count_parameters(model, run.layer).total());
}

TEST(LayerShare, Recurrence_IsSplitByHeads) {
  // Mamba-2: 16 heads of 64, 4 groups of a state of 32, 4 taps; tp 2 holds 8 heads and 2 groups.
  // Values 512, keys 64: input 1024 x (2 * 512 + 2 * 64 + 8), output 512 x 1024, convolution
  // 4 * (512 + 2 * 64), 3 * 8 numbers of heads, 512 of the norm; one norm of the layer.
  model::Layer layer{.attention = {.kind = model::Attention::Kind::mamba,
                                   .heads = 16,
                                   .kv_heads = 4,
                                   .head_dim = 64,
                                   .state = 32,
                                   .conv = 4},
                     .ffn = {},
                     .norms = 1};
  EXPECT_EQ(count_layer_share(kDense, layer, {.tp = 2}).dense,
            1024 * 1160 + 512 * 1024 + 4 * 640 + 24 + 512 + 1024);
}

}  // namespace shares_test
}  // namespace rankwright::plan
