#include "rankwright/validate/calibrate.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/import/plan/plan_file.h"
#include "tests/support/golden.h"
#include "tests/support/run_logs.h"
#include "tests/support/sample.h"

namespace rankwright {
namespace calibrate_test {

rankwright::TrainingConfig example(const std::string& name) {
  const std::string file = std::string(RANKWRIGHT_SOURCE_DIR) + "/examples/" + name + ".yaml";
  return resolve(read_plan(golden::read(file), name, read_file).draft);
}

/// What a machine at `pace` would have logged.
RunLog log_at(const rankwright::TrainingConfig& config, double pace) {
  Calibration c = calibration();
  c.pace = pace;
  RunLog log;
  for (i64 i = 1; i <= 20; ++i)
    add_step(log, {.iteration = i, .time = step_time(config, c).total()});
  return log;
}

TEST(Calibrate, GivesTheFactorBackThatTheMachineHas) {
  for (const std::string name : {"course-64", "gpt3-175b-1024", "deepseek-v3-2048"}) {
    const rankwright::TrainingConfig config = example(name);
    for (const double pace : {1.0, 0.8, 0.45, 1.2}) {
      const Result<RunCalibration> found =
          calibrate(config, calibration(), log_at(config, pace), "run.log");
      ASSERT_TRUE(found.has_value()) << name << pace;
      EXPECT_NEAR(found->calibration.pace, pace, 1e-6) << name;
      EXPECT_EQ(found->steps, 17);
    }
  }
}

TEST(Calibrate, ReadsBackALogOfTheModelsOwnEstimate) {
  const rankwright::TrainingConfig config = example("gpt3-175b-1024");
  const Trial trial{config, calibration()};
  const RunLog log = run_logs::read(run_logs::steps(prophecy(trial).step));
  const Result<RunCalibration> found = calibrate(config, calibration(), log, "run.log");
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->calibration.pace, 1, 1e-6);  // the log has tenths of a microsecond
}

RC_GTEST_PROP(Calibrate, MovesThePlanThatRanOntoWhatWasMeasured, ()) {
  rankwright::TrainingConfig config = sample::dense_setup({.dp = sample::one_of({1, 2, 4})});
  config.cluster.device = find_device("a100-80g").value();
  config.cluster.levels[0].bandwidth = 100.0_GBps;
  const double pace = *rc::gen::inRange(41, 130) / 100.0;
  const RunLog log = log_at(config, pace);
  const Result<RunCalibration> found = calibrate(config, calibration(), log, "run.log");
  RC_ASSERT(found.has_value());
  const Seconds measured = log.steps.back().time;
  const Seconds after = step_time(config, found->calibration).total();
  RC_ASSERT(std::abs(after / measured - 1) < 1e-9);
}

TEST(Calibrate, RefusesWhatIsAFault) {
  const rankwright::TrainingConfig config = example("course-64");
  for (const double pace : {0.2, 2.0}) {
    const Result<RunCalibration> found =
        calibrate(config, calibration(), log_at(config, pace), "run.log");
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, "RW0931");
    EXPECT_EQ(found.error().where.file, "run.log");
  }
  RunLog failed;
  failed.oom = OutOfMemory{.wanted = 1.0_GB};
  EXPECT_EQ(calibrate(config, calibration(), failed, "run.log").error().code, "RW0930");
}

TEST(Calibrate, NarrowsTheBandForPlansOfTheSameModelAndDevice) {
  rankwright::TrainingConfig config = example("gpt3-175b-1024");
  const double before = estimate(config, calibration()).step_band.within;
  const Result<RunCalibration> found =
      calibrate(config, calibration(), log_at(config, 0.9), "run.log");
  config.calibrated = std::make_shared<const RunCalibration>(*found);
  const Estimate after = estimate(config, calibration(config));
  EXPECT_EQ(after.step_band.within, std::min(before, bands().pair_max.within));
  EXPECT_NEAR(after.time() / found->measured, 1, 1e-9);
  config.model.hidden *= 2;  // another model
  EXPECT_EQ(estimate(config, calibration(config)).step_band.within, before);
}

TEST(Calibrate, HoldsWhatTheRunHeldBeyondItsLedgerButNeverLess) {
  const rankwright::TrainingConfig config = example("gpt3-175b-1024");
  const MemoryEstimate before = estimate_memory(config, 0, calibration());
  for (const double more : {2e9, -2e9}) {
    RunLog log = log_at(config, 1);
    add_peak(log, 0, {.allocated = before.allocated() + Bytes{more}});
    const Result<RunCalibration> found = calibrate(config, calibration(), log, "run.log");
    ASSERT_TRUE(found.has_value());
    const MemoryEstimate after = estimate_memory(config, 0, found->calibration);
    EXPECT_NEAR((after.allocated() - before.allocated()).value, std::max(0.0, more), 1);
  }
}

}  // namespace calibrate_test
}  // namespace rankwright
