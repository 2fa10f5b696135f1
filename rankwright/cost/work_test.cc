#include "rankwright/cost/work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "rankwright/catalog/catalog.h"
#include "rankwright/model/flops.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace work_test {

// FLOPs of a layer per token at 2048 tokens: 2 x (2,621,440 + 12,582,912) for the weights, and half
// of 2048 x (1024 + 1024) multiply-adds, 2 FLOPs each, for causal attention.
constexpr double kLayer = 2 * 15'204'352.0 + 2048.0 * 2048;
constexpr double kHead = 2 * 32'768'000.0;

TEST(Work, HeadIsOnTheLastRank) {
  const std::vector<Flops> by_rank = work(sample::dense_config({.pp = 4}));
  ASSERT_EQ(by_rank.size(), 4u);
  EXPECT_DOUBLE_EQ(by_rank[0].value, 2 * kLayer);
  EXPECT_DOUBLE_EQ(by_rank[3].value, 2 * kLayer + kHead);
}

TEST(Work, MtpModuleAddsLayerProjectionAndHead) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.pp = 4});
  config.model.mtp_layers = 1;
  config.plan.stages = *plan::parse_layout("Et*4|t*4|m|L");
  const std::vector<Flops> by_rank = work(config);
  EXPECT_DOUBLE_EQ(by_rank[2].value, kLayer + 2 * 2 * 1024.0 * 1024);
  EXPECT_DOUBLE_EQ(by_rank[3].value, 2 * kHead);
}

TEST(Work, MirroredRankDoesHalfOfTwoStages) {
  // Ranks 0 and 3 both have the first and the last stage, each for half of the tokens.
  const std::vector<Flops> by_rank =
      work(sample::dense_config({.pp = 4, .schedule = pipeline::Schedule::dualpipe}, 8));
  EXPECT_DOUBLE_EQ(by_rank[1].value, 2 * kLayer);
  EXPECT_DOUBLE_EQ(by_rank[0].value, 2 * kLayer + kHead / 2);
  EXPECT_EQ(by_rank[0], by_rank[3]);
}

RC_GTEST_PROP(Work, AddsUpToAThirdOfTrainingFlops, ()) {
  const plan::TrainingConfig config = sample::random_config();
  const std::vector<Flops> by_rank = work(config);
  const Flops sum = std::accumulate(by_rank.begin(), by_rank.end(), Flops{});
  const Flops training = training_flops_per_token(config.model, config.job.sequence,
                                                  model::FlopsConvention::megatron_causal);
  RC_ASSERT(std::abs(3 * sum.value - training.value) <= 1e-9 * training.value);
}

TEST(Imbalance, IsTheBusiestRelativeToTheMean) {
  // 3 + 3 + 6 = 12, mean 4: half more
  EXPECT_DOUBLE_EQ(imbalance({Flops{3}, Flops{3}, Flops{6}}), 0.5);
  EXPECT_DOUBLE_EQ(imbalance({Flops{5}}), 0);
}

TEST(SplitTask, WeightsItemsLikeWork) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.pp = 4});
  config.model.mtp_layers = 1;
  const split::SplitTask task = make_split_task(config);
  EXPECT_EQ(task.embedding.weight, 0);
  ASSERT_EQ(task.layers.size(), 1u);
  EXPECT_EQ(task.layers[0].count, 8);
  EXPECT_DOUBLE_EQ(task.layers[0].each.weight, kLayer);
  EXPECT_EQ(task.mtp_modules, 1);
  EXPECT_DOUBLE_EQ(task.mtp.weight, kLayer + 2 * 2 * 1024.0 * 1024);
  EXPECT_DOUBLE_EQ(task.head.weight, 2 * kHead);
}

TEST(SplitTask, MapsStagesLikeTheSchedule) {
  const plan::Plan plan{.pp = 2, .virtual_stages = 2, .schedule = pipeline::Schedule::zb_v};
  EXPECT_EQ(make_split_task(sample::dense_config(plan)).map.team_of_stage,
            (std::vector<i64>{0, 1, 1, 0}));
}

RC_GTEST_PROP(SplitTask, SplitIsNeverWorse, ()) {
  plan::TrainingConfig config = sample::random_config();
  // A plan may have an empty stage; a split does not.
  for (const plan::Stage& stage : config.stages())
    RC_PRE(stage.layers + stage.mtp > 0 || stage.embedding || stage.loss);
  const double before = imbalance(work(config));
  const split::Split split = find_best_split(make_split_task(config));
  RC_ASSERT(split.fault == split::Split::Fault::none);
  RC_ASSERT(split.proved);
  config.plan.stages = split.stages;
  const std::vector<Flops> after = work(config);
  RC_ASSERT(imbalance(after) <= before + 1e-9);
  const double max = std::max_element(after.begin(), after.end())->value;
  RC_ASSERT(std::abs(max - split.rank_weight) <= 1e-9 * max);
}

/// Returns a catalog model on 16 pp ranks with even stages.
rankwright::plan::TrainingConfig on_16(const std::string& name, i64 sequence) {
  rankwright::plan::TrainingConfig config =
      sample::config_of(*catalog::find_model(name), {.pp = 16}, 128);
  config.job.sequence = sequence;
  return config;
}

/// Returns the config with the best stages, parsed back from their text form.
rankwright::plan::TrainingConfig best(rankwright::plan::TrainingConfig config) {
  const split::Split split = find_best_split(make_split_task(config));
  EXPECT_TRUE(split.proved);
  EXPECT_EQ(plan::parse_layout(show_layout(split.stages)).value(), split.stages);
  config.plan.stages = split.stages;
  return config;
}

TEST(BestStages, Llama405bIsSplitEvenly) {
  // A layer at 8,192 tokens: 2 x (2 x 16384^2 + 2 x 16384 x 1024 + 3 x 16384 x 53248) for the
  // weights, 8192 x (16384 + 16384) for attention: 6,643,777,536. The head, 2 x 128256 x 16384, is
  // 0.6326 of that. In layers: 126.6326 in total, 7.9145 on average. 16 ranks of 7 layers hold
  // fewer than 126, so some rank has 8: 1.1 % above the mean.
  const double layer = 6'643'777'536.0, head = 2.0 * 128256 * 16384;
  const double min = 8 * layer / ((126 * layer + head) / 16) - 1;
  EXPECT_NEAR(min, 0.011, 0.0005);
  const rankwright::plan::TrainingConfig even = on_16("llama-3.1-405b", 8192);
  EXPECT_NEAR(imbalance(work(even)), min, 1e-9);
  EXPECT_NEAR(imbalance(work(best(even))), min, 1e-9);
  EXPECT_EQ(show_layout(best(even).plan.stages), "Et*7|(t*8|)*14t*7L");
}

TEST(BestStages, DeepSeekV3MovesLayersOffTheLastRank) {
  // A layer at 4,096 tokens, dense or not (8 + 1 experts of 2048 are 18432): 2 x (187,105,280 +
  // 3 x 7168 x 18432) + 4096 x (24576 + 16384) = 1,334,706,176. The MTP module adds 4 x 7168^2; the
  // head is 2 x 129280 x 7168, once for the model and once for the module.
  const double layer = 1'334'706'176.0, mtp = layer + 4.0 * 7168 * 7168;
  const double heads = 2 * 2.0 * 129280 * 7168;
  const double mean = (61 * layer + mtp + heads) / 16;
  // With even stages the last rank has 3 layers, the module and the heads: 6.93 layers, where the
  // mean is 4.06.
  const rankwright::plan::TrainingConfig even = on_16("deepseek-v3", 4096);
  EXPECT_NEAR(imbalance(work(even)), (3 * layer + mtp + heads) / mean - 1, 1e-9);
  EXPECT_NEAR(imbalance(work(even)), 0.708, 0.0005);
  // With at most 4 layers per rank, 15 ranks have 60; the 61st is with the module and the heads
  // (4.93 layers). On any other rank it would be the fifth.
  EXPECT_NEAR(imbalance(work(best(even))), (layer + mtp + heads) / mean - 1, 1e-9);
  EXPECT_NEAR(imbalance(work(best(even))), 0.215, 0.0005);
  EXPECT_EQ(show_layout(best(even).plan.stages), "Etttt|(tttt|)*14tmL");
}

}  // namespace work_test
}  // namespace rankwright::cost
