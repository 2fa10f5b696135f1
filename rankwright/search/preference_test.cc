#include "rankwright/search/preference.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"

namespace rankwright::search {
namespace preference_test {

/// Returns llama-3.1-70b on 64 H100 with this plan.
plan::TrainingConfig dense(const plan::Plan& plan) {
  plan::TrainingConfig config{.model = catalog::find_model("llama-3.1-70b").value(),
                              .cluster = catalog::find_cluster("dgx-h100 x 8").value(),
                              .job = {.global_batch = 512, .sequence = 8192},
                              .plan = plan};
  config.world = 64;
  return config;
}

const plan::Plan kPublished{.tp = 8, .dp = 2, .pp = 4, .zero = 1};

std::optional<Advantage> compare(const plan::Plan& better, const plan::Plan& worse) {
  return find_advantage(rank_preference(dense(better), true), rank_preference(dense(worse), true));
}

TEST(Preference, AMarginCountsMost) {
  const plan::Plan odd{.tp = 1, .cp = 64};
  EXPECT_EQ(
      find_advantage(rank_preference(dense(odd), true), rank_preference(dense(kPublished), false)),
      Advantage::margin);
}

// cp 64 is six doublings from every published run of a dense model with pp 1 and 8k tokens.
TEST(Preference, NearPublishedRuns_BeatsFewerCuts) {
  EXPECT_EQ(compare(kPublished, {.cp = 64}), Advantage::published);
}

TEST(Preference, ThenSimplicityDecides) {
  plan::Plan other = kPublished;
  other.recompute = plan::Recompute::full;
  EXPECT_EQ(compare(kPublished, other), Advantage::no_full_recompute);
  other.recompute = plan::Recompute::selective;
  EXPECT_EQ(compare(kPublished, other), Advantage::less_recompute);
  EXPECT_EQ(compare({.tp = 8, .dp = 8, .zero = 1}, kPublished), Advantage::fewer_cuts);
}

// ZeRO-1 reduces and gathers what ZeRO-0 all-reduces, and shards the optimizer states: on 8 data
// ranks 12 bytes per parameter become 1.5.
TEST(Preference, ZeroStage1_BeatsZeroStage0AndThenTheLower) {
  const auto at = [](int stage) {
    plan::Plan plan = kPublished;
    plan.zero = stage;
    return plan;
  };
  EXPECT_EQ(compare(at(1), at(0)), Advantage::zero_stage);
  EXPECT_EQ(compare(at(0), at(2)), Advantage::zero_stage);
}

TEST(Preference, IsATotalOrder_EqualOnlyForEqualPlaces) {
  const Preference one = rank_preference(dense(kPublished), true);
  EXPECT_EQ(one, rank_preference(dense(kPublished), true));
  EXPECT_LT(one, rank_preference(dense(kPublished), false));
}

}  // namespace preference_test
}  // namespace rankwright::search
