#include "rankwright/cost/estimate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/bands.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/bands/layout_distance.h"
#include "rankwright/model/flops.h"
#include "tests/support/timed_configs.h"

namespace rankwright::cost {
namespace estimate_test {

rankwright::plan::TrainingConfig dense(plan::Plan plan = {}) {
  return sample::timed(sample::dense_config(plan));
}

rankwright::plan::TrainingConfig sparse(plan::Plan plan = {}) {
  return sample::timed(
      sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), std::move(plan)));
}

TEST(TokensPerSecond, IsPerDevice) {
  // 4 microbatches of 2,048 tokens on each of 2 data ranks: 16,384 tokens in 4 s on 2 devices.
  const rankwright::plan::TrainingConfig config = dense({.dp = 2});
  EXPECT_DOUBLE_EQ(tokens_per_second(config, 4.0_s), 2048);
  EXPECT_EQ(tokens_per_second(config, Seconds{}), 0);
}

TEST(Mfu, IsOneAtPeakRate) {
  rankwright::plan::TrainingConfig config = dense({.dp = 2});
  const Flops work = 16'384.0 * training_flops_per_token(config.model, 2048,
                                                         model::FlopsConvention::megatron_causal);
  const Seconds min = work / (2 * 989.0_TFLOPS);
  EXPECT_NEAR(mfu(config, min), 1, 1e-12);
  EXPECT_NEAR(mfu(config, 4 * min), 0.25, 1e-12);
  // Relative to the peak of the fp8 format: 989 / 1,979.
  config.job.matmul = plan::Matmul::fp8;
  EXPECT_NEAR(mfu(config, min), 989.0 / 1979, 1e-12);
  EXPECT_EQ(mfu(config, Seconds{}), 0);
}

TEST(Band, DependsOnModelKindAndDevice) {
  rankwright::plan::TrainingConfig config = dense();
  EXPECT_EQ(estimate_plan(config, catalog::get_calibration()).step_band.within,
            catalog::get_bands().dense.within);
  config.cluster.device.generation = "unheard of";
  const ErrorBand unknown = estimate_plan(config, catalog::get_calibration()).step_band;
  EXPECT_EQ(unknown.within, catalog::get_bands().unmeasured.within);
  EXPECT_EQ(unknown.rows, 0);
  // No published run is near this model with experts.
  EXPECT_FALSE(near_validated(sparse()));
  EXPECT_EQ(estimate_plan(sparse(), catalog::get_calibration()).step_band.within,
            catalog::get_bands().sparse_far.within);
  EXPECT_EQ(find_far_band(sparse()), catalog::get_bands().sparse_far.within);
  EXPECT_EQ(find_far_band(dense()), catalog::get_bands().dense_far.within);
}

TEST(TieBand, SameModelAndDeviceUseThePairBand) {
  EXPECT_EQ(find_tie_band(dense({.tp = 2}), dense({.dp = 2})), catalog::get_bands().pair.within);
  EXPECT_EQ(find_tie_band(sparse({.tp = 2}), sparse({.dp = 2})),
            catalog::get_bands().pair_sparse.within);
  EXPECT_EQ(find_tie_band(sparse()), catalog::get_bands().pair_sparse.within);
  // Another batch, sequence or number of devices is still a pair.
  rankwright::plan::TrainingConfig other = dense({.dp = 4});
  other.job.global_batch *= 2;
  other.job.sequence *= 2;
  EXPECT_EQ(find_tie_band(dense(), other), catalog::get_bands().pair.within);
}

TEST(TieBand, OtherPairsUseTheWiderBand) {
  EXPECT_EQ(find_tie_band(dense(), sparse()), catalog::get_bands().sparse_far.within);
  EXPECT_EQ(find_tie_band(sparse(), dense()), catalog::get_bands().sparse_far.within);
  rankwright::plan::TrainingConfig other = dense();
  other.model.vocab += 128;
  EXPECT_FALSE(paired(dense(), other));
  EXPECT_EQ(find_tie_band(dense(), other), catalog::get_bands().dense.within);
  rankwright::plan::TrainingConfig unknown = dense();
  unknown.cluster.device.generation = "unheard of";
  EXPECT_EQ(find_tie_band(unknown, dense()), catalog::get_bands().unmeasured.within);
  // A factor common to all plans of a search does not affect their order.
  EXPECT_EQ(find_tie_band(unknown), catalog::get_bands().pair.within);
}

RC_GTEST_PROP(TieBand, IsSymmetricAndAtMostTheWiderBand, ()) {
  const rankwright::plan::TrainingConfig a = sample::random_timed_config(),
                                         b = sample::random_timed_config();
  const double of_a = estimate_plan(a, catalog::get_calibration()).step_band.within;
  const double of_b = estimate_plan(b, catalog::get_calibration()).step_band.within;
  RC_ASSERT(find_tie_band(a, b) == find_tie_band(b, a));
  RC_ASSERT(find_tie_band(a, b) > 0 && find_tie_band(a, b) <= std::max(of_a, of_b));
  RC_ASSERT(find_tie_band(a) <= of_a);
}

TEST(Estimate, IsSureOutsideItsBand) {
  Estimate e{.capacity = 100.0_GB, .memory_band = {0.1, 20}};
  const auto sure = [&](double held) {
    e.memory[Entry::parameters] = held * 1.0_GB;
    return e.sure();
  };
  EXPECT_TRUE(sure(80));
  EXPECT_TRUE(e.fits());
  EXPECT_FALSE(sure(95));
  EXPECT_TRUE(e.fits());
  EXPECT_FALSE(sure(105));
  EXPECT_FALSE(e.fits());
  EXPECT_TRUE(sure(120));
  EXPECT_FALSE(e.fits());
}

RC_GTEST_PROP(Estimate, IsLeftOutOnlyIfItIsSlower, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const cluster::Calibration& calibration = catalog::get_calibration();
  const Seconds time = estimate_closely(config, calibration).time();
  PipelineEnds ends;
  const std::optional<Estimate> same = estimate_faster(config, calibration, ends, time);
  RC_ASSERT(same.has_value());
  RC_ASSERT(same->time() == time);
  // The pipeline is known now.
  const i64 pipelines = ends.size();
  RC_ASSERT(estimate_faster(config, calibration, ends, 2 * time)->time() == time);
  RC_ASSERT(ends.size() == pipelines);
  RC_ASSERT(!estimate_faster(config, calibration, ends, Seconds{}).has_value());
}

RC_GTEST_PROP(Estimate, HasTheMemoryOfTheFullestRank, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const Estimate e = estimate_plan(config, catalog::get_calibration());
  const std::vector<MemoryEstimate> all =
      estimate_memory_per_pp_rank(config, catalog::get_calibration());
  RC_ASSERT(i64(all.size()) == config.plan.pp);
  for (const MemoryEstimate& other : all) RC_ASSERT(other.total() <= e.memory.total());
  RC_ASSERT(e.memory.pp_rank >= 0 && e.memory.pp_rank < config.plan.pp);
  RC_ASSERT(mfu(config, e.time()) > 0 && mfu(config, e.time()) < 1);
}

}  // namespace estimate_test
}  // namespace rankwright::cost
