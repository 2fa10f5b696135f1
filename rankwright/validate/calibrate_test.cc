#include "rankwright/validate/calibrate.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/bands.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/import/plan/plan_file.h"
#include "tests/support/golden.h"
#include "tests/support/run_logs.h"
#include "tests/support/sample.h"

namespace rankwright::validate {
namespace calibrate_test {

rankwright::plan::TrainingConfig example(const std::string& name) {
  const std::string file = std::string(RANKWRIGHT_SOURCE_DIR) + "/examples/" + name + ".yaml";
  return resolve(importer::read_plan(golden::read(file), name, importer::read_file).draft);
}

/// Returns the log that a machine at `pace` would write.
importer::RunLog log_at(const rankwright::plan::TrainingConfig& config, double pace) {
  cluster::Calibration c = catalog::get_calibration();
  c.pace = pace;
  importer::RunLog log;
  for (i64 i = 1; i <= 20; ++i)
    add_step(log, {.iteration = i, .time = cost::estimate_step_time(config, c).total()});
  return log;
}

TEST(Calibrate, RecoversTheFactorOfTheMachine) {
  for (const std::string name : {"course-64", "gpt3-175b-1024", "deepseek-v3-2048"}) {
    const rankwright::plan::TrainingConfig config = example(name);
    for (const double pace : {1.0, 0.8, 0.45, 1.2}) {
      const Result<plan::RunCalibration> found =
          calibrate(config, catalog::get_calibration(), log_at(config, pace), "run.log");
      ASSERT_TRUE(found.has_value()) << name << pace;
      EXPECT_NEAR(found->calibration.pace, pace, 1e-6) << name;
      EXPECT_EQ(found->steps, 17);
    }
  }
}

TEST(Calibrate, RecoversOneFromALogOfTheEstimate) {
  const rankwright::plan::TrainingConfig config = example("gpt3-175b-1024");
  const Trial trial{config, catalog::get_calibration()};
  const importer::RunLog log = run_logs::read(run_logs::steps(predict_trial(trial).step));
  const Result<plan::RunCalibration> found =
      calibrate(config, catalog::get_calibration(), log, "run.log");
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->calibration.pace, 1, 1e-6);  // the log has tenths of a microsecond
}

RC_GTEST_PROP(Calibrate, PredictsTheCalibrationRunExactly, ()) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.dp = sample::one_of({1, 2, 4})});
  config.cluster.device = catalog::find_device("a100-80g").value();
  config.cluster.levels[0].bandwidth = 100.0_GBps;
  const double pace = *rc::gen::inRange(41, 130) / 100.0;
  const importer::RunLog log = log_at(config, pace);
  const Result<plan::RunCalibration> found =
      calibrate(config, catalog::get_calibration(), log, "run.log");
  RC_ASSERT(found.has_value());
  const Seconds measured = log.steps.back().time;
  const Seconds after = cost::estimate_step_time(config, found->calibration).total();
  RC_ASSERT(std::abs(after / measured - 1) < 1e-9);
}

TEST(Calibrate, RejectsImplausibleFactors) {
  const rankwright::plan::TrainingConfig config = example("course-64");
  for (const double pace : {0.2, 2.0}) {
    const Result<plan::RunCalibration> found =
        calibrate(config, catalog::get_calibration(), log_at(config, pace), "run.log");
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, "RW0931");
    EXPECT_EQ(found.error().where.file, "run.log");
  }
  importer::RunLog failed;
  failed.oom = importer::OutOfMemory{.wanted = 1.0_GB};
  EXPECT_EQ(calibrate(config, catalog::get_calibration(), failed, "run.log").error().code,
            "RW0930");
}

TEST(Calibrate, NarrowsTheBandOfTheSameModelAndDevice) {
  rankwright::plan::TrainingConfig config = example("gpt3-175b-1024");
  const double before = cost::estimate_plan(config, catalog::get_calibration()).step_band.within;
  const Result<plan::RunCalibration> found =
      calibrate(config, catalog::get_calibration(), log_at(config, 0.9), "run.log");
  config.calibrated = std::make_shared<const plan::RunCalibration>(*found);
  const cost::Estimate after = cost::estimate_plan(config, select_calibration(config));
  EXPECT_EQ(after.step_band.within, std::min(before, catalog::get_bands().pair_max.within));
  EXPECT_NEAR(after.time() / found->measured, 1, 1e-9);
  config.model.hidden *= 2;  // another model
  EXPECT_EQ(cost::estimate_plan(config, select_calibration(config)).step_band.within, before);
}

TEST(Calibrate, AddsMemoryBeyondTheEstimateButNeverSubtracts) {
  const rankwright::plan::TrainingConfig config = example("gpt3-175b-1024");
  const cost::MemoryEstimate before = cost::estimate_memory(config, 0, catalog::get_calibration());
  for (const double more : {2e9, -2e9}) {
    importer::RunLog log = log_at(config, 1);
    add_peak(log, 0, {.allocated = before.allocated() + Bytes{more}});
    const Result<plan::RunCalibration> found =
        calibrate(config, catalog::get_calibration(), log, "run.log");
    ASSERT_TRUE(found.has_value());
    const cost::MemoryEstimate after = cost::estimate_memory(config, 0, found->calibration);
    EXPECT_NEAR((after.allocated() - before.allocated()).value, std::max(0.0, more), 1);
  }
}

}  // namespace calibrate_test
}  // namespace rankwright::validate
