#include "rankwright/split/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright::split {
namespace text_test {

using Layers = std::vector<i64>;

TEST(TitanLayers, EmbeddingAndOutput_CountAsLayers) {
  // 32 layers and 1 + 1 on 4 stages: 34 = 4 x 8 + 2, so 9 9 8 8 counted, and without the edges
  // 8 9 8 7.
  EXPECT_EQ(compute_titan_layers(32, 4, 1, 1), (Layers{8, 9, 8, 7}));
  // 3 layers, 2 + 2, on 2 stages: 7 = 2 x 3 + 1, so 4 3 counted; 2 1.
  EXPECT_EQ(compute_titan_layers(3, 2, 2, 2), (Layers{2, 1}));
}

TEST(TitanLayers, OneStage_HasAllLayers) {
  EXPECT_EQ(compute_titan_layers(5, 1, 9, 9), (Layers{5}));
}

TEST(TitanLayers, EdgesLargerThanAStage_AreRejected) {
  EXPECT_EQ(compute_titan_layers(2, 5, 1, 1), std::nullopt);  // 4 counted on 5 stages
  EXPECT_EQ(compute_titan_layers(8, 4, 4, 0),
            std::nullopt);  // 3 per stage, and the embedding counts as 4
  EXPECT_EQ(compute_titan_layers(8, 4, 0, 4), std::nullopt);
  EXPECT_NE(compute_titan_layers(8, 4, 3, 3), std::nullopt);
}

TEST(TitanSplit, PrefersTheDefaults) {
  // 34 counted in stages of 9 are 4 stages.
  EXPECT_EQ(find_titan_split(plan::make_listed_stages({8, 9, 8, 7}, 0)), (TitanSplit{1, 1, 9}));
}

TEST(TitanSplit, OtherwisePicksTheSmallestSettings) {
  // 30 layers, 0 + 1, on 4 stages: 31 = 4 x 7 + 3, so 8 8 8 7 counted. 0 + 2 gives the same stages.
  EXPECT_EQ(compute_titan_layers(30, 4, 0, 2), (Layers{8, 8, 8, 6}));
  EXPECT_EQ(find_titan_split(plan::make_listed_stages({8, 8, 8, 6}, 0)), (TitanSplit{0, 1, 8}));
}

TEST(TitanSplit, OmitsLayersPerStageIfNoValueFits) {
  // 8 + 1 + 1 = 10 counted on 6 stages: 2 2 2 2 1 1. Stages of 2 would make 5 stages, stages of 1
  // would make 10.
  EXPECT_EQ(find_titan_split(plan::make_listed_stages({1, 2, 2, 2, 1, 0}, 0)),
            (TitanSplit{1, 1, std::nullopt}));
}

TEST(TitanSplit, UnsupportedSplits_AreNothing) {
  EXPECT_EQ(find_titan_split(plan::make_listed_stages({8, 7, 8, 7}, 0)), std::nullopt);
  EXPECT_EQ(find_titan_split(plan::make_listed_stages({2, 2}, 1)), std::nullopt);  // an MTP module
  EXPECT_EQ(find_titan_split(plan::make_listed_stages({1, 3, 9}, 0)), std::nullopt);
}

RC_GTEST_PROP(TitanSplit, AnyTorchtitanSplit_HasSettings, ()) {
  const i64 layers = *rc::gen::inRange<i64>(0, 60), stages = *rc::gen::inRange<i64>(1, 12);
  const i64 first = *rc::gen::inRange<i64>(0, 8), last = *rc::gen::inRange<i64>(0, 8);
  const std::optional<Layers> cut = compute_titan_layers(layers, stages, first, last);
  if (!cut) return;
  const std::optional<TitanSplit> split = find_titan_split(plan::make_listed_stages(*cut, 0));
  RC_ASSERT(split.has_value());
  RC_ASSERT(compute_titan_layers(layers, stages, split->first_less, split->last_less) == cut);
  if (split->layers_per_stage && stages > 1) {
    const i64 counted = layers + split->first_less + split->last_less;
    RC_ASSERT(ceil_div(counted, *split->layers_per_stage) == stages);
  }
}

TEST(TitanSplit, Show_PrintsTheSettings) {
  EXPECT_EQ(show(TitanSplit{1, 2, 8}),
            "pipeline_parallel_first_stage_less_layers = 1\n"
            "pipeline_parallel_last_stage_less_layers = 2\n"
            "pipeline_parallel_layers_per_stage = 8\n");
  EXPECT_EQ(show(TitanSplit{1, 1, std::nullopt}),
            "pipeline_parallel_first_stage_less_layers = 1\n"
            "pipeline_parallel_last_stage_less_layers = 1\n");
}

}  // namespace text_test
}  // namespace rankwright::split
