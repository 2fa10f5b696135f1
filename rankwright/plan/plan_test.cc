#include "rankwright/plan/plan.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <set>

#include "tests/support/sample.h"
#include "tests/support/stage_routes.h"

namespace rankwright::plan {
namespace plan_test {

using sample::config_of;
using sample::dense_config;
using sample::dense_layer;
using sample::model_of;
using sample::sparse_layer;
using testing::ElementsAre;

Plan pipeline(pipeline::Schedule schedule, i64 pp, i64 chunks) {
  return {.pp = pp, .virtual_stages = chunks, .schedule = schedule};
}

TEST(Schedules, AreInTheOrderOfTheirEnum) {
  ASSERT_EQ(pipeline::schedules().size(), pipeline::kSchedules);
  for (const pipeline::ScheduleRow& s : pipeline::schedules()) {
    EXPECT_EQ(pipeline::row(s.schedule).name, s.name);
    EXPECT_LE(s.min_chunks, s.max_chunks) << s.name;
  }
}

TEST(StagesOf, Loop_IsRoundRobin) {
  const Plan plan = pipeline(pipeline::Schedule::interleaved, 4, 3);
  EXPECT_THAT(list_stages(plan, 0), ElementsAre(0, 4, 8));
  EXPECT_THAT(list_stages(plan, 3), ElementsAre(3, 7, 11));
}

TEST(StagesOf, VShape_GoesForthAndBack) {
  // Stages 0 1 2 3 on ranks 0 1 2 3, then 4 5 6 7 on ranks 3 2 1 0.
  const Plan plan = pipeline(pipeline::Schedule::zb_v, 4, 2);
  EXPECT_THAT(list_stages(plan, 0), ElementsAre(0, 7));
  EXPECT_THAT(list_stages(plan, 3), ElementsAre(3, 4));
}

TEST(StagesOf, Mirror_HasTwoStagesEqualOnBothRanks) {
  const Plan plan = pipeline(pipeline::Schedule::dualpipe, 4, 1);
  EXPECT_THAT(list_stages(plan, 0), ElementsAre(0, 3));
  EXPECT_THAT(list_stages(plan, 1), ElementsAre(1, 2));
  EXPECT_THAT(list_stages(plan, 2), ElementsAre(1, 2));
  EXPECT_THAT(list_stages(plan, 3), ElementsAre(0, 3));
  EXPECT_THAT(list_stages(pipeline(pipeline::Schedule::dualpipe, 1, 1), 0), ElementsAre(0));
}

TEST(StagesOf, NoChunks_IsOneStage) {
  EXPECT_THAT(list_stages(pipeline(pipeline::Schedule::one_f_one_b, 4, 1), 2), ElementsAre(2));
}

/// Makes a pipeline of any schedule, in a shape that it supports.
TrainingConfig random_pipeline() {
  const pipeline::ScheduleRow& s =
      pipeline::schedules()[std::size_t(*rc::gen::inRange<i64>(0, i64(pipeline::kSchedules)))];
  const i64 pp = s.multiple * *rc::gen::inRange<i64>(1, 6);
  const i64 chunks = std::min(s.max_chunks, s.min_chunks + *rc::gen::inRange<i64>(0, 4));
  const i64 microbatches = s.rounds * pp + s.multiple * *rc::gen::inRange<i64>(1, 5);
  return dense_config(pipeline(s.schedule, pp, chunks), microbatches);
}

RC_GTEST_PROP(StagesOf, MatchesFollowingEveryMicrobatch, ()) {
  const TrainingConfig config = random_pipeline();
  RC_ASSERT(!pipeline::find_shape_fault(make_pipeline_shape(config)));
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const std::vector<i64> stages = list_stages(config.plan, r);
    const std::set<i64> met = stage_routes::held(config, r);
    RC_ASSERT(stages == std::vector<i64>(met.begin(), met.end()));
  }
}

RC_GTEST_PROP(MicrobatchesOf, MatchesFollowingEveryMicrobatch, ()) {
  const TrainingConfig config = random_pipeline();
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  for (i64 m = 0; m < shape.microbatches; ++m) {
    const std::vector<i64> ranks = stage_routes::way(config, m);
    for (i64 s = 0; s < shape.stages(); ++s)
      for (i64 r = 0; r < shape.pp; ++r) {
        const bool here = ranks[std::size_t(s)] == r;
        const pipeline::MicrobatchRun run = pipeline::find_microbatches(shape, r, s);
        RC_ASSERT(here == (pipeline::find_pp_rank(shape, s, m) == r));
        RC_ASSERT(here == (run.first <= m && m < run.first + run.count));
      }
  }
}

TEST(MicrobatchesOf, Mirror_IsHalfOfThem) {
  const TrainingConfig config = dense_config(pipeline(pipeline::Schedule::dualpipe, 4, 1), 10);
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  EXPECT_EQ(pipeline::find_microbatches(shape, 1, 1), (pipeline::MicrobatchRun{0, 5}));
  EXPECT_EQ(pipeline::find_microbatches(shape, 2, 1), (pipeline::MicrobatchRun{5, 5}));
  EXPECT_EQ(pipeline::find_microbatches(shape, 0, 1), pipeline::MicrobatchRun{});
  EXPECT_EQ(config.stage_microbatches(), 5);
}

TEST(PipelineShape, ComesFromTheConfig) {
  TrainingConfig config = dense_config(pipeline(pipeline::Schedule::interleaved, 4, 3), 12);
  config.plan.microbatch_group = 6;
  EXPECT_EQ(make_pipeline_shape(config),
            (pipeline::PipelineShape{.schedule = pipeline::Schedule::interleaved,
                                     .pp = 4,
                                     .chunks = 3,
                                     .microbatches = 12,
                                     .group = 6}));
}

TrainingConfig on_ranks(i64 world, i64 sequence, const Plan& plan = {}) {
  TrainingConfig config = dense_config({}, 1);
  config.plan = plan;
  config.job.sequence = sequence;
  config.world = world;
  return config;
}

TEST(AssumedSequence, IsTheModelsUpTo8192) {
  EXPECT_EQ(assume_sequence({.max_sequence = 131072}), 8192);
  EXPECT_EQ(assume_sequence({.max_sequence = 2048}), 2048);
  EXPECT_EQ(assume_sequence({}), 4096);
}

TEST(AssumedBatch, IsFourMiTokens_EqualOnEveryRank) {
  EXPECT_EQ(assume_global_batch(on_ranks(64, 8192)), 512);   // 4,194,304 / 8,192
  EXPECT_EQ(assume_global_batch(on_ranks(64, 4096)), 1024);  // 4,194,304 / 4,096
  EXPECT_EQ(assume_global_batch(on_ranks(96, 8192)), 576);   // 6 x 96
}

// 512 sequences are not enough for 16,384 ranks: one for every 8 ranks.
TEST(AssumedBatch, ManyRanks_ShareSequences) {
  EXPECT_EQ(assume_global_batch(on_ranks(16384, 8192)), 2048);
  EXPECT_EQ(assume_global_batch(on_ranks(1024, 8192)), 512);
}

TEST(AssumedBatch, DoesNotDependOnDegreesThatDivideIt) {
  for (const Plan& plan : {Plan{.tp = 8, .dp = 2, .pp = 4}, Plan{.tp = 16, .dp = 1, .pp = 4},
                           Plan{.dp = 64}, Plan{.dp = 32, .pp = 2, .micro_batch = 4}})
    EXPECT_EQ(assume_global_batch(on_ranks(64, 4096, plan)), 1024);
}

TEST(AssumedBatch, IsRoundedUpToWhatThePlanCanDivide) {
  EXPECT_EQ(assume_global_batch(on_ranks(1024, 8192, {.dp = 1024})), 1024);
  EXPECT_EQ(assume_global_batch(on_ranks(64, 4096, {.dp = 64, .micro_batch = 3})),
            1152);  // 6 x 192
}

TEST(AssumedBatch, Overflow_IsNothing) {
  const i64 huge = std::numeric_limits<i64>::max() / 2;
  EXPECT_EQ(assume_global_batch(on_ranks(8, 4096, {.dp = huge, .micro_batch = 3})), std::nullopt);
}

TEST(Meshes, AreTwoViewsOfTheSameRanks) {
  // 2 x 2 x 4 x 2 = 32 ranks; experts: etp 1 x ep 8 leaves 32 / (8 x 2) = 2 for expert data.
  const Plan plan{.tp = 2, .cp = 2, .dp = 4, .pp = 2, .ep = 8, .etp = 1};
  const mesh::MeshPair meshes = plan.meshes();
  EXPECT_EQ(meshes.dense, (mesh::Mesh{.tp = 2, .cp = 2, .dp = 4, .pp = 2}));
  EXPECT_EQ(meshes.expert, (mesh::Mesh{.tp = 1, .ep = 8, .dp = 2, .pp = 2}));
  EXPECT_TRUE(meshes.same_pipeline());
}

TEST(Shards, Default_IsAllDataRanks) {
  Plan plan{.cp = 2, .dp = 8};
  EXPECT_EQ(plan.shards(), 16);
  plan.shard_size = 4;
  EXPECT_EQ(plan.shards(), 4);
}

TEST(Microbatches, AreTheBatchDividedByMicroBatchTimesDp) {
  TrainingConfig config = dense_config({.dp = 4, .micro_batch = 2});
  config.job.global_batch = 48;
  EXPECT_EQ(config.microbatches(), 6);  // 48 / (2 x 4)
}

TEST(Contents, DifferentLayers_KeepTheirOrder) {
  // d s d s d s d s in four stages of two layers: rank 0 runs stages 0 and 2.
  const model::LayerRun d{1, dense_layer()}, s{1, sparse_layer()};
  const TrainingConfig config = config_of(model_of({d, s, d, s, d, s, d, s}),
                                          pipeline(pipeline::Schedule::interleaved, 2, 2));
  EXPECT_THAT(contents(config, 0).runs, ElementsAre(d, s, d, s));
}

TEST(Contents, EqualNeighbors_AreOneRun) {
  const TrainingConfig config = dense_config(pipeline(pipeline::Schedule::interleaved, 2, 4));
  EXPECT_THAT(contents(config, 1).runs, ElementsAre(model::LayerRun{4, dense_layer()}));
}

TEST(Contents, EmbeddingAndLoss_AreOnTheOuterRanks) {
  TrainingConfig config = dense_config(pipeline(pipeline::Schedule::one_f_one_b, 4, 1));
  config.model.mtp_layers = 1;
  const RankContents first = contents(config, 0), inner = contents(config, 1),
                     last = contents(config, 3);
  EXPECT_TRUE(first.embedding && !first.loss && first.mtp == 0);
  EXPECT_TRUE(!inner.embedding && !inner.loss && inner.mtp == 0);
  EXPECT_TRUE(!last.embedding && last.loss && last.mtp == 1);
}

TEST(Contents, VShape_HasEmbeddingAndLossOnTheFirstRank) {
  const TrainingConfig config = dense_config(pipeline(pipeline::Schedule::zb_v, 4, 2));
  EXPECT_TRUE(contents(config, 0).embedding && contents(config, 0).loss);
  EXPECT_FALSE(contents(config, 3).embedding || contents(config, 3).loss);
}

TEST(PipelineShape, IncludesMicrobatchesAndGroup) {
  Plan plan = pipeline(pipeline::Schedule::interleaved, 2, 4);
  plan.microbatch_group = 3;
  EXPECT_EQ(make_pipeline_shape(dense_config(plan, 6)),
            (pipeline::PipelineShape{pipeline::Schedule::interleaved, 2, 4, 6, 3}));
}

RC_GTEST_PROP(Contents, Rank_IsTheSumOfItsStages, ()) {
  const TrainingConfig config = sample::random_config(sample::random_model());
  const std::vector<RankContents> by_stage = list_stage_contents(config);
  const std::vector<RankContents> by_rank = list_rank_contents(config);
  RC_ASSERT(i64(by_rank.size()) == config.plan.pp);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const std::vector<i64> stages = list_stages(config.plan, r);
    const std::vector<RankContents> chunks = list_chunk_contents(config, r);
    RC_ASSERT(chunks.size() == stages.size());
    i64 layers = 0, mtp = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      RC_ASSERT(chunks[i].runs == by_stage[std::size_t(stages[i])].runs);
      layers += chunks[i].layers;
      mtp += chunks[i].mtp;
    }
    RC_ASSERT(layers == contents(config, r).layers && mtp == contents(config, r).mtp);
    const RankContents& one = by_rank[std::size_t(r)];
    RC_ASSERT(one.runs == contents(config, r).runs);
    RC_ASSERT(one.layers == layers && one.mtp == mtp);
    RC_ASSERT(one.embedding == contents(config, r).embedding);
    RC_ASSERT(one.loss == contents(config, r).loss);
  }
}

TEST(Contents, Mirror_HasEmbeddingAndLossOnBothOuterRanks) {
  const TrainingConfig config = dense_config(pipeline(pipeline::Schedule::dualpipe, 4, 1), 8);
  for (const i64 r : {0, 3}) EXPECT_TRUE(contents(config, r).embedding && contents(config, r).loss);
  for (const i64 r : {1, 2})
    EXPECT_FALSE(contents(config, r).embedding || contents(config, r).loss);
  for (const i64 r : {0, 1, 2, 3}) EXPECT_EQ(contents(config, r).layers, 4);  // twice 8 / 4
}

TEST(StageContents, HoldOneStageEach) {
  const TrainingConfig config = dense_config(pipeline(pipeline::Schedule::zb_v, 4, 2));
  const std::vector<RankContents> stages = list_stage_contents(config);
  EXPECT_TRUE(stages[0].embedding && !stages[0].loss);
  EXPECT_TRUE(stages[7].loss && !stages[7].embedding);
  EXPECT_EQ(stages[7].layers, 1);
}

RC_GTEST_PROP(Contents, AddUpToTheModel, ()) {
  const TrainingConfig config = sample::random_config(sample::random_model());
  i64 layers = 0, mtp = 0, embeddings = 0, losses = 0, sparse = 0;
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const RankContents on_rank = contents(config, r);
    i64 in_runs = 0;
    for (const model::LayerRun& run : on_rank.runs) {
      in_runs += run.count;
      sparse += run.layer.ffn.sparse() ? run.count : 0;
    }
    RC_ASSERT(in_runs == on_rank.layers);
    layers += on_rank.layers;
    mtp += on_rank.mtp;
    embeddings += on_rank.embedding ? 1 : 0;
    losses += on_rank.loss ? 1 : 0;
  }
  const i64 times = config.plan.mirrored() ? 2 : 1;
  for (i64 i = 0; i < config.model.layers(); ++i)
    sparse -= config.model.layer(i).ffn.sparse() ? times : 0;
  RC_ASSERT(layers == times * config.model.layers() && sparse == 0);
  RC_ASSERT(mtp == times * config.model.mtp_layers);
  RC_ASSERT(embeddings == times && losses == times);
}

TEST(RunAgain, RecomputesTheFirstLayersOfAStage) {
  Plan plan{.recompute = Recompute::full, .recompute_layers = 5};
  EXPECT_EQ(count_recomputed_layers(plan, 0, 3), 3);  // layers 0 1 2 of 5
  EXPECT_EQ(count_recomputed_layers(plan, 3, 4), 2);  // 3 4, not 5 6
  EXPECT_EQ(count_recomputed_layers(plan, 7, 4), 0);
  EXPECT_FALSE(recomputes_everything(plan));
  plan.recompute_layers = 0;
  EXPECT_EQ(count_recomputed_layers(plan, 7, 4), 4);  // all
  EXPECT_TRUE(recomputes_everything(plan));
  plan.recompute = Recompute::selective;
  EXPECT_EQ(count_recomputed_layers(plan, 0, 4), 0);  // only attention, no whole layer
}

}  // namespace plan_test
}  // namespace rankwright::plan
