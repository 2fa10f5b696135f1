#include "rankwright/cost/faults/failure.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/failures.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace failure_test {

constexpr double kMinute = 60, kHour = 3600;

TEST(Uptime, WithoutFailuresLosesOnlyCheckpoints) {
  // One failure in a thousand years: 90 s of work and 10 s of checkpoint are 90 % useful.
  const Uptime up = compute_uptime(90.0_s, {Seconds{86400.0 * 365 * 1000}, 100.0_s, 10.0_s});
  EXPECT_NEAR(up.useful, 0.9, 1e-6);
  EXPECT_NEAR(up.checkpoints, 0.1, 1e-6);
}

TEST(Uptime, MatchesTheWorkedExample) {
  // M = 100 s, T = 40, C = 10, R = 30: e^0.3 = 1.349859, e^0.5 - 1 = 0.648721,
  // 100 x 1.349859 x 0.648721 = 87.5682 s for 40 s of work: 45.6787 % is useful.
  const FailureModel model{100.0_s, 30.0_s, 10.0_s};
  EXPECT_NEAR(compute_expected_time(40.0_s, model).value, 87.5682, 1e-4);
  const Uptime up = compute_uptime(40.0_s, model);
  EXPECT_NEAR(up.useful, 0.456787, 1e-6);
  EXPECT_NEAR(up.restarts, 1 - 1 / 1.349859, 1e-6);
  // A failure within 50 s occurs after 100 - 50 / 0.648721 = 22.9253 s on average.
  EXPECT_NEAR(up.lost_each.value, 22.9253, 1e-4);
}

TEST(Uptime, MatchesAMonteCarloSimulation) {
  const FailureModel model{100.0_s, 30.0_s, 10.0_s};
  std::mt19937_64 random(7);
  std::exponential_distribution<double> next(1 / 100.0);
  double time = 0;
  constexpr int kSegments = 200'000;
  for (int k = 0; k < kSegments; ++k) {
    while (true) {  // tries the segment; a failure costs a restart, which may fail too
      const double until = next(random);
      if (until >= 50) break;
      time += until;
      for (double again = next(random); again < 30; again = next(random)) time += again;
      time += 30;
    }
    time += 50;
  }
  EXPECT_NEAR(time / kSegments / compute_expected_time(40.0_s, model).value, 1, 0.01);
}

TEST(BestInterval, MatchesDaly2006) {
  // Daly 2006, figures 3 to 5, checkpoints of 5 min: 117, 57 and 9.1 min for M = 24 h, 6 h, 15 min.
  const auto best = [](double between) {
    return find_best_interval({Seconds{between}, Seconds{10 * kMinute}, Seconds{5 * kMinute}})
               .value /
           kMinute;
  };
  EXPECT_NEAR(best(24 * kHour), 117, 0.5);
  EXPECT_NEAR(best(6 * kHour), 57, 0.5);
  EXPECT_NEAR(best(15 * kMinute), 9.1, 0.1);
}

TEST(BestInterval, CheapCheckpointsMatchYoungsFormula) {
  // sqrt(2 C M): C = 1 ms, M = 10^6 s: 44.72 s.
  EXPECT_NEAR(find_best_interval({Seconds{1e6}, {}, Seconds{1e-3}}).value, std::sqrt(2e3), 1e-2);
}

RC_GTEST_PROP(BestSteps, MatchesBruteForce, ()) {
  const Seconds step{*rc::gen::inRange(1, 2000) / 10.0};
  const FailureModel model{Seconds{double(*rc::gen::inRange(100, 100'000))},
                           Seconds{double(*rc::gen::inRange(0, 1000))},
                           Seconds{double(*rc::gen::inRange(0, 600))}};
  double max = 0;
  for (i64 n = 1; n < 100'000 && double(n) * step < 2 * model.between; ++n)
    max = std::max(max, compute_uptime(double(n) * step, model).useful);
  const double said = compute_uptime(double(find_best_steps(step, model)) * step, model).useful;
  RC_ASSERT(said >= max * (1 - 1e-9));
}

RC_GTEST_PROP(Uptime, FractionsAddUpAndUsefulMatchesExpectedTime, ()) {
  const FailureModel model{Seconds{double(*rc::gen::inRange(100, 100'000))},
                           Seconds{double(*rc::gen::inRange(0, 1000))},
                           Seconds{double(*rc::gen::inRange(0, 600))}};
  const Seconds work{double(*rc::gen::inRange(1, 10'000))};
  const Uptime up = compute_uptime(work, model);
  RC_ASSERT(std::abs(up.useful + up.checkpoints + up.lost + up.restarts - 1) < 1e-9);
  RC_ASSERT(std::abs(up.useful * (compute_expected_time(work, model) / work) - 1) < 1e-9);
  RC_ASSERT(up.lost_each <= work + model.checkpoint);
}

TEST(Uptime, HopelessJobHasNoUsefulTimeButFiniteNumbers) {
  const Uptime up = compute_uptime(Seconds{1e9}, {1.0_s, Seconds{1e6}, Seconds{1e6}});
  EXPECT_EQ(up.useful, 0);
  EXPECT_TRUE(std::isfinite(up.lost) && std::isfinite(up.lost_each.value));
  EXPECT_EQ(find_best_steps(Seconds{1e9}, {1.0_s, {}, Seconds{1e9}}), 1);
}

TEST(TimeBetweenFailures, MatchesPublishedRates) {
  // 419 interruptions in 54 days: 54 x 24 / 419 = 3.09 h.
  const catalog::FailureRow llama = *catalog::find_failure_rate("llama-3");
  EXPECT_NEAR(compute_time_between_failures(llama, 16384).value / kHour, 3.09, 0.01);
  // Kokolis et al. measured 7.9 h for jobs of 1,024 GPUs of RSC-1; its rate gives 1/(128 x
  // 0.0065) days = 28.8 h: jobs fail of more than hardware. They project 1.8 h at 16,384: same law.
  EXPECT_NEAR(
      compute_time_between_failures(*catalog::find_failure_rate("rsc-1"), 1024).value / kHour, 28.8,
      0.1);
  EXPECT_NEAR(
      compute_time_between_failures(*catalog::find_failure_rate("rsc-1"), 16384).value / kHour, 1.8,
      0.01);
}

TEST(Failure, Llama3HasMoreThanNinetyPercentGoodput) {
  // Published: > 90 % effective training time on 16,384 GPUs. Its failures alone leave more.
  const FailureModel model{
      compute_time_between_failures(usual(catalog::FailureRow::Kind::rate), 16384),
      catalog::estimate_restart_time(16384), 10.0_s};
  const Seconds best = find_best_interval(model);
  EXPECT_GT(compute_uptime(best, model).useful, 0.9);
  EXPECT_LT(compute_uptime(best, model).useful, 0.99);
}

TEST(Failure, HundredThousandGpusMatchPublishedGoodput) {
  // FT-HSDP: 18 min between failures, restarts of 900 s, 44 % useful. Restarts alone leave
  // e^(-15/18) = 43.5 %; checkpoints of a few seconds take a little more.
  const FailureModel model{Seconds{18 * kMinute}, catalog::estimate_restart_time(100'000), 5.0_s};
  EXPECT_NEAR(compute_uptime(find_best_interval(model), model).useful, 0.44, 0.06);
}

TEST(Failure, GoodputDecreasesWithGpus) {
  double last = 1;
  for (i64 gpus = 8; gpus <= i64{1} << 20; gpus *= 2) {
    const FailureModel model{
        compute_time_between_failures(usual(catalog::FailureRow::Kind::rate), gpus),
        catalog::estimate_restart_time(gpus), 10.0_s};
    const double useful = compute_uptime(find_best_interval(model), model).useful;
    EXPECT_LT(useful, last) << gpus;
    last = useful;
  }
}

TEST(Checkpoint, HasFourteenBytesPerParameter) {
  // bf16 weight 2, fp32 copy 4, Adam 8; 8,030,261,248 parameters.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3-8b\ncluster: dgx-h100 x 4\nparallelism: {tp_size: 8, dp_size: 4}\n");
  EXPECT_EQ(count_checkpoint_bytes(config), Bytes{14.0 * 8'030'261'248});
  EXPECT_EQ(count_checkpoint_nodes(config), 1);  // one replica is one node
  rankwright::plan::TrainingConfig sharded = config;
  sharded.plan.zero = 1;
  EXPECT_EQ(count_checkpoint_nodes(sharded), 4);
}

TEST(Copies, DependOnTheZeroStage) {
  rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3-8b\ncluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, dp_size: 4, pp_size: 2}\n");
  EXPECT_EQ(count_copies(config).optimizer, 4);
  config.plan.zero = 1;
  EXPECT_EQ(count_copies(config).optimizer, 1);
  EXPECT_EQ(count_copies(config).parameters, 4);
  config.plan.zero = 2;  // FSDP shards weights too
  config.software.fsdp = true;
  EXPECT_EQ(count_copies(config).parameters, 1);
  config.plan.zero = 3;
  EXPECT_EQ(count_copies(config).parameters, 1);
  config.plan.shard_size = 2;  // hybrid sharding: two groups of two hold the same
  EXPECT_EQ(count_copies(config).optimizer, 2);
}

TEST(Failure, HangsLengthenRestarts) {
  // M = 100 s, R = 30 s: 1 - e^-0.3 of the time is spent in restarts; with 20 s to detect a hang,
  // 1 - e^-0.5.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3-8b\ncluster: dgx-h100 x 4\nparallelism: {tp_size: 8, dp_size: 4}\n");
  const FailureTask task{{100.0_s, 30.0_s, 10.0_s}, 40.0_s, 20.0_s};
  const Failure out = estimate_failure(config, catalog::get_calibration(), 0, task);
  EXPECT_NEAR(out.uptime.restarts, 1 - std::exp(-0.3), 1e-12);
  EXPECT_NEAR(out.when_hung.restarts, 1 - std::exp(-0.5), 1e-12);
}

TEST(Failure, SlowStorage_LengthensCheckpoints) {
  // With 40 s of work between checkpoints of 10 s and M = 100 s, useful work is 0.4 / (e^0.5 - 1)
  // outside restarts. Ten times slower storage: checkpoints of 100 s, 0.4 / (e^1.4 - 1).
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3-8b\ncluster: dgx-h100 x 4\nparallelism: {tp_size: 8, dp_size: 4}\n");
  FailureTask task{{100.0_s, 0.0_s, 10.0_s}, 40.0_s, 20.0_s};
  const Failure out = estimate_failure(config, catalog::get_calibration(), 0, task);
  EXPECT_NEAR(out.uptime.useful, 0.4 / std::expm1(0.5), 1e-12);
  EXPECT_NEAR(out.with_slow_storage.useful, 0.4 / std::expm1(1.4), 1e-12);
  // Without a given interval, slower storage has a longer one.
  task.interval.reset();
  task.model.between = Seconds{1e5};
  const Failure best = estimate_failure(config, catalog::get_calibration(), 0, task);
  EXPECT_GT(best.with_slow_storage.interval, best.uptime.interval);
}

TEST(Copies, ExpertsHaveOneCopyPerExpertDataRank) {
  // 16 ranks, experts over 8 of them: two hold each expert, sixteen each dense weight.
  rankwright::plan::TrainingConfig config = config_of(
      "model: mixtral-8x7b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, ep_size: 8}\n");
  EXPECT_EQ(count_copies(config).parameters, 2);
  EXPECT_EQ(count_copies(config).optimizer, 2);
  // ZeRO in shard groups of 4: four ranks hold each dense shard, but the two ranks of an expert
  // hold half of its states each.
  config.plan.zero = 1;
  config.plan.shard_size = 4;
  EXPECT_EQ(count_copies(config).parameters, 2);
  EXPECT_EQ(count_copies(config).optimizer, 1);
}

}  // namespace failure_test
}  // namespace rankwright::cost
