#include "rankwright/cost/memory/rank_load.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/pipeline/order.h"
#include "rankwright/plan/messages.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace rank_load_test {

/// Computes the activations of a microbatch by chunk from plan's RankContents.
std::vector<double> weights(const plan::TrainingConfig& config, i64 pp_rank) {
  std::vector<double> by_chunk;
  const std::vector<plan::RankContents> chunks = list_chunk_contents(config, pp_rank);
  for (const plan::RankContents& chunk : chunks) {
    double sum = config.software.keeps_outputs && config.plan.pp > 1
                     ? compute_messages(config).kept.value
                     : 0;
    i64 before = 0;
    for (const model::LayerRun& run : chunk.runs) {
      const LayerActivations a = activations(config, run.layer);
      const i64 again = count_recomputed_layers(config.plan, before, run.count);
      sum += (again * a.input + (run.count - again) * a.kept).value;
      before += run.count;
    }
    // One logit per token and vocabulary row, for the model and for every MTP module, and the
    // inputs of the last norm and the head.
    const plan::Messages sizes = compute_messages(config);
    const double logits =
        (sizes.scores.value * double(plan::count_vocabulary_rows(config.model, config.plan.tp)) +
         2 * sizes.kept.value) *
        double(1 + config.model.mtp_layers);
    if (config.software.keeps_logits && chunk.loss) sum += logits;
    by_chunk.push_back(sum);
  }
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    if (chunks[k].mtp == 0) continue;
    const LayerActivations a = compute_mtp_activations(config);
    by_chunk[k] += (chunks[k].mtp * (recomputes_everything(config.plan) ? a.input : a.kept)).value;
  }
  return by_chunk;
}

RC_GTEST_PROP(RankLoad, MatchesRankContents, ()) {
  plan::TrainingConfig config = sample::random_config();
  config.software.keeps_outputs = sample::coin();
  config.software.keeps_logits = sample::coin();
  RankLoads loads(config);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const RankLoad load = loads.of(r);
    const plan::RankContents on_rank = contents(config, r);
    RC_ASSERT(load.share == count_rank_share(config, r));
    RC_ASSERT(load.embeds == on_rank.embeds());
    RC_ASSERT(load.loss == on_rank.loss);
    RC_ASSERT(std::max(load.largest_layer, load.largest_edge) == largest_unit(config, on_rank));
    const std::vector<double> expected = weights(config, r);
    RC_ASSERT(expected.size() == loads.chunks().size());
    for (std::size_t k = 0; k < expected.size(); ++k)
      RC_ASSERT(std::abs(loads.chunks()[k] - expected[k]) <= 1e-9 * expected[k]);
    const double held = pipeline::max_held(make_pipeline_shape(config), r, expected);
    RC_ASSERT(std::abs(load.held.value - held) <= 1e-9 * held);
  }
}

TEST(RankLoad, OverlappedDispatchHoldsOneMore) {
  // Interleaved, rank 0 of 2 with 2 chunks: 2 + 2 + 1 in flight, and one more forward.
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{8, sample::sparse_layer()}}),
                        {.dp = 2,
                         .pp = 2,
                         .ep = 2,
                         .virtual_stages = 2,
                         .schedule = pipeline::Schedule::interleaved});
  config.job.global_batch = 16;
  const Bytes plain = RankLoads(config).of(0).held;
  config.plan.overlap.ep = true;
  RankLoads loads(config);
  const Bytes overlapped = loads.of(0).held;
  EXPECT_DOUBLE_EQ(overlapped.value - plain.value, loads.chunks()[0]);
  EXPECT_DOUBLE_EQ(plain.value, 5 * loads.chunks()[0]);
  config.job.global_batch = 4;  // 2 microbatches: all 4 are in flight anyway
  EXPECT_DOUBLE_EQ(RankLoads(config).of(0).held.value, 4 * loads.chunks()[0]);
}

TEST(RankLoad, OverlappedDispatchOnOneStageHoldsOneLayerMore) {
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), {.dp = 2, .ep = 2});
  config.job.global_batch = 16;
  const Bytes plain = RankLoads(config).of(0).held;
  config.plan.overlap.ep = true;
  const Bytes layer = activations(config, config.model.runs[0].layer).kept;
  EXPECT_DOUBLE_EQ((RankLoads(config).of(0).held - plain).value, layer.value);
}

TEST(RankLoad, CountsUnequalStages) {
  // 1f1b with pp 2 and 5 + 3 layers: rank 0 holds two microbatches of 5 layers, rank 1 one of 3.
  rankwright::plan::TrainingConfig config = sample::dense_config({.pp = 2});
  config.plan.stages = plan::make_listed_stages({5, 3}, 0);
  const Bytes layer = activations(config, sample::dense_layer()).kept;
  RankLoads loads(config);
  EXPECT_DOUBLE_EQ(loads.of(0).held.value, 10 * layer.value);
  EXPECT_DOUBLE_EQ(loads.of(1).held.value, 3 * layer.value);
}

TEST(RankLoad, EmbeddingIsInItsFirstChunk) {
  // A V order of 2 pp ranks: rank 0 embeds in its first chunk, and its last chunk has the MTP
  // module, which reads the same embedding.
  rankwright::plan::TrainingConfig config =
      sample::dense_config({.pp = 2, .virtual_stages = 2, .schedule = pipeline::Schedule::zb_v});
  config.model.mtp_layers = 1;
  ASSERT_EQ(list_chunk_contents(config, 0)[1].mtp, 1);
  RankLoads loads(config);
  const RankLoad load = loads.of(0);
  ASSERT_NE(loads.chunks()[0], loads.chunks()[1]);
  EXPECT_EQ(load.embedding_chunk.value, loads.chunks()[0]);
}

TEST(RankLoad, KeepsInputsOfRecomputedLayers) {
  // Three of eight layers are recomputed: three inputs and five full layers are kept.
  const rankwright::plan::TrainingConfig config =
      sample::dense_config({.recompute = plan::Recompute::full, .recompute_layers = 3});
  const LayerActivations a = activations(config, sample::dense_layer());
  const RankLoad load = RankLoads(config).of(0);
  EXPECT_DOUBLE_EQ(load.held.value, (3 * a.input + 5 * a.kept).value);
  EXPECT_EQ(load.brought_back, a.whole);
}

RC_GTEST_PROP(RankLoad, GrowsWithMicrobatchesAndShrinksWithRecompute, ()) {
  const plan::TrainingConfig few = sample::random_config();
  // Only whole rounds: a remainder is merged into the group before it and holds more than another
  // group would.
  const auto rounds = [&](i64 n) {
    plan::TrainingConfig config = few;
    config.plan.microbatch_group = 0;
    config.job.global_batch = n * 2 * config.plan.pp * config.plan.micro_batch * config.plan.dp;
    return config;
  };
  const auto held = [](const plan::TrainingConfig& config, i64 r) {
    return RankLoads(config).of(r).held;
  };
  const auto with = [&](plan::Recompute recompute) {
    plan::TrainingConfig config = few;
    config.plan.recompute = recompute;
    config.plan.recompute_layers = 0;
    return config;
  };
  for (i64 r = 0; r < few.plan.pp; ++r) {
    RC_ASSERT(held(rounds(1), r) <= held(rounds(2), r));
    RC_ASSERT(held(with(plan::Recompute::none), r) >= held(with(plan::Recompute::selective), r));
    RC_ASSERT(held(with(plan::Recompute::selective), r) >= held(with(plan::Recompute::full), r));
  }
}

}  // namespace rank_load_test
}  // namespace rankwright::cost
