// Worked examples of the steps of a pp rank outside its cells, as text. A layer has 15,206,400
// parameters, embedding and head 32,768,000 each, in bf16: 30.4 MB and 65.5 MB.
#include "rankwright/program/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/program/body.h"
#include "tests/support/sample.h"

namespace rankwright::program {
namespace steps_test {

using sample::config_of;
using sample::dense_layer;
using sample::model_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> show_steps(const Body& body) {
  std::vector<std::string> list;
  for (const Step& step : body) list.push_back(show(step));
  return list;
}

TEST(RankSteps, OneRankOnlyRunsTheOptimizer) {
  const RankSteps steps = build_rank_steps(config_of(model_of({{2, dense_layer()}}), {}, 1))[0];
  EXPECT_THAT(steps.first, IsEmpty());
  EXPECT_THAT(steps.behind, ElementsAre(IsEmpty()));
  EXPECT_THAT(show_steps(steps.last), ElementsAre("optimizer"));
}

/// Makes a config of four layers on two ranks with two chunks each: E t | t | t | t L.
plan::TrainingConfig make_interleaved(int zero, bool hidden) {
  plan::TrainingConfig config = config_of(model_of({{4, dense_layer()}}),
                                          {.dp = 4,
                                           .pp = 2,
                                           .zero = zero,
                                           .virtual_stages = 2,
                                           .schedule = pipeline::Schedule::interleaved},
                                          2);
  config.plan.overlap = {.grad_reduce = hidden, .param_gather = hidden};
  return config;
}

TEST(RankSteps, ReduceGradientsAfterTheirChunk) {
  const RankSteps first = build_rank_steps(make_interleaved(0, true))[0];
  // 15,206,400 + 32,768,000: a bucket of 40 million, 80 MB, and 15.9 MB; the other chunk is one
  // layer
  EXPECT_THAT(show_steps(first.behind[0]),
              ElementsAre("DP all-reduce 80 MB beside", "DP all-reduce 15.9 MB beside"));
  EXPECT_THAT(show_steps(first.behind[1]), ElementsAre("DP all-reduce 30.4 MB beside"));
  EXPECT_THAT(show_steps(first.last), ElementsAre("gradient norm 4 B", "optimizer"));
}

TEST(RankSteps, ReduceGradientsAtTheEndWithoutOverlap) {
  const RankSteps first = build_rank_steps(make_interleaved(0, false))[0];
  EXPECT_THAT(first.behind, ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(show_steps(first.last),
              ElementsAre("DP all-reduce 80 MB", "DP all-reduce 15.9 MB", "DP all-reduce 30.4 MB",
                          "gradient norm 4 B", "optimizer"));
}

TEST(RankSteps, Zero1GathersBeforeTheFirstCellOrAfterTheOptimizer) {
  const std::string gather = "FSDP/ZeRO all-gather ";
  const RankSteps hidden = build_rank_steps(make_interleaved(1, true))[0];
  EXPECT_THAT(
      show_steps(hidden.first),
      ElementsAre(gather + "80 MB beside", gather + "15.9 MB beside", gather + "30.4 MB beside"));
  EXPECT_THAT(show_steps(hidden.behind[1]), ElementsAre("DP reduce-scatter 30.4 MB beside"));
  EXPECT_THAT(show_steps(hidden.last), ElementsAre("gradient norm 4 B", "optimizer"));
  const RankSteps shown = build_rank_steps(make_interleaved(1, false))[0];
  EXPECT_THAT(shown.first, IsEmpty());
  EXPECT_THAT(show_steps(shown.last),
              ElementsAre("DP reduce-scatter 80 MB", "DP reduce-scatter 15.9 MB",
                          "DP reduce-scatter 30.4 MB", "gradient norm 4 B", "optimizer",
                          gather + "80 MB", gather + "15.9 MB", gather + "30.4 MB"));
}

TEST(RankSteps, Zero2OnlyGathersAndZero3DoesNeither) {
  const RankSteps two = build_rank_steps(make_interleaved(2, true))[0];
  EXPECT_EQ(two.first.size(), 3u);
  EXPECT_THAT(two.behind, ElementsAre(IsEmpty(), IsEmpty()));  // reduced inside the cells
  const RankSteps three = build_rank_steps(make_interleaved(3, true))[0];
  EXPECT_THAT(three.first, IsEmpty());
  EXPECT_THAT(three.behind, ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(show_steps(three.last), ElementsAre("gradient norm 4 B", "optimizer"));
}

TEST(RankSteps, FsdpInAPipelineReducesUnitsOnce) {
  rankwright::plan::TrainingConfig config = make_interleaved(3, true);
  config.software.fsdp = true;
  const RankSteps rank = build_rank_steps(config)[0];
  const std::string gather = "FSDP/ZeRO all-gather ", scatter = "DP reduce-scatter ";
  EXPECT_THAT(show_steps(rank.first),
              UnorderedElementsAre(gather + "65.5 MB beside", gather + "30.4 MB beside",
                                   gather + "30.4 MB beside"));
  EXPECT_THAT(show_steps(rank.behind[0]),
              UnorderedElementsAre(scatter + "65.5 MB beside", scatter + "30.4 MB beside"));
  EXPECT_THAT(show_steps(rank.behind[1]), ElementsAre(scatter + "30.4 MB beside"));
}

TEST(RankSteps, SumNormGradientsOverTpThenTheTiedEmbedding) {
  rankwright::plan::TrainingConfig config = config_of(
      model_of({{3, dense_layer()}}), {.tp = 2, .dp = 2, .pp = 3, .sequence_parallel = true}, 3);
  config.model.tied = true;
  config.plan.overlap.grad_reduce = false;
  const std::vector<RankSteps> all = build_rank_steps(config);
  // A layer's matmuls 15,204,352 / 2 and its two norms of 1024, 16,000 rows of the vocabulary:
  // 7,604,224 + 16,384,000 parameters. The norms are 2048 x 2 bytes.
  EXPECT_THAT(show_steps(all[0].last),
              ElementsAre("DP all-reduce 48 MB", "TP norm gradients 4.1 kB",
                          "tied embedding grad 32.8 MB", "gradient norm 4 B", "optimizer"));
  EXPECT_THAT(show_steps(all[1].last),
              ElementsAre("DP all-reduce 15.2 MB", "TP norm gradients 4.1 kB", "gradient norm 4 B",
                          "optimizer"));
  // with the last norm, and the head's copy of the weight
  EXPECT_THAT(show_steps(all[2].last),
              ElementsAre("DP all-reduce 48 MB", "TP norm gradients 6.14 kB",
                          "tied embedding grad 32.8 MB", "gradient norm 4 B", "optimizer"));
}

TEST(RankSteps, ReduceASharedVocabularyWeightSeparately) {
  rankwright::plan::TrainingConfig config =
      config_of(model_of({{2, dense_layer()}}), {.dp = 4, .pp = 2}, 2);
  config.model.tied = true;
  // 65.5 MB of the weight and 30.4 of a layer are more than a bucket of 40 million, 80 MB
  EXPECT_THAT(show_steps(build_rank_steps(config)[0].behind[0]),
              ElementsAre("DP all-reduce 80 MB beside", "DP all-reduce 15.9 MB beside"));
  config.plan.zero = 1;
  const std::vector<RankSteps> ranks = build_rank_steps(config);
  ASSERT_EQ(ranks.size(), 2u);
  for (const RankSteps& rank : ranks) {
    EXPECT_THAT(show_steps(rank.behind[0]), ElementsAre("DP reduce-scatter 65.5 MB beside",
                                                        "DP reduce-scatter 30.4 MB beside"));
    EXPECT_EQ(show_steps(rank.last)[0], "tied embedding grad 65.5 MB");
  }
  config.plan.zero = 2;  // each rank keeps a quarter of it
  EXPECT_EQ(show_steps(build_rank_steps(config)[1].last)[0], "tied embedding grad 16.4 MB");
}

TEST(RankSteps, ExpertsUseTheExpertDataParallelGroup) {
  const rankwright::plan::TrainingConfig config =
      config_of(model_of({{1, sample::sparse_layer()}}), {.dp = 8, .ep = 4}, 1);
  // 2 of 8 experts of 3 x 1024 x 512, 2 bytes each: 6.29 MB
  EXPECT_EQ(show_steps(build_rank_steps(config)[0].behind[0]).back(),
            "expert DP all-reduce 6.29 MB beside");
}

RC_GTEST_PROP(Steps, ConcatenateRankSteps, ()) {
  const plan::TrainingConfig config = sample::random_config();
  const std::vector<RankSteps> ranks = build_rank_steps(config);
  const std::vector<Body> lines = steps(config);
  RC_ASSERT(ranks.size() == std::size_t(config.plan.pp) && lines.size() == ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::size_t sum = ranks[r].first.size() + ranks[r].last.size();
    for (const Body& behind : ranks[r].behind) sum += behind.size();
    RC_ASSERT(ranks[r].behind.size() == list_stages(config.plan, i64(r)).size());
    RC_ASSERT(lines[r].size() == sum);
    RC_ASSERT(std::count_if(lines[r].begin(), lines[r].end(),
                            [](const Step& s) { return s.part == Part::optimizer; }) == 1);
  }
}

}  // namespace steps_test
}  // namespace rankwright::program
