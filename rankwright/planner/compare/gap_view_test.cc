#include "rankwright/planner/compare/gap_view.h"

#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"

namespace rankwright::planner {
namespace gap_view_test {

constexpr char kPlan[] =
    "world_size: 8\nmodel: llama-3.1-8b\ncluster: dgx-h100\n"
    "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 1}\n"
    "job: {global_batch: 32, sequence: 8192}\n";

importer::PlanFile plan_file(const std::string& text) {
  return importer::read_plan(text, "plan.yaml", importer::refuse_file);
}
rankwright::plan::TrainingConfig config_of(const std::string& text) {
  return resolve(plan_file(text).draft);
}

/// Returns a log of ten steps that each take `times` the predicted time.
importer::RunLog log_of(const rankwright::plan::TrainingConfig& config, double times) {
  importer::RunLog log;
  for (i64 i = 1; i <= 10; ++i)
    add_step(log, {.iteration = i,
                   .time = times *
                           cost::estimate_step_time(config, catalog::get_calibration()).total()});
  return log;
}

TEST(GapView, PredictedStepTime_IsInside) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const GapView view =
      make_gap_view(config, catalog::get_calibration(), log_of(config, 1.05), nullptr);
  EXPECT_FALSE(view.outside());
}

TEST(GapView, DifferingSettings_AreListedFirst) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  importer::RunLog log = log_of(config, 1.5);
  log.world = 16;
  log.steps.back().global_batch = 64;
  const importer::PlanFile ran =
      plan_file("world_size: 16\nparallelism: {tp_size: 4, pp_size: 2, dp_size: 2}\n");
  const GapView view = make_gap_view(config, catalog::get_calibration(), log, &ran);
  std::vector<std::string> keys;
  for (const SettingGap& s : view.settings) keys.push_back(s.key);
  // Settings that the log's arguments leave open, such as the model, are not listed.
  EXPECT_THAT(keys,
              ::testing::ElementsAre("world_size", "job.global_batch", "parallelism.tp_size"));
  EXPECT_TRUE(view.outside());
}

TEST(GapView, NoTimers_IsReported) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const GapView view =
      make_gap_view(config, catalog::get_calibration(), log_of(config, 1.18), nullptr);
  EXPECT_FALSE(view.timed);
}

TEST(GapView, NoModel_HasNoMemoryGap) {
  const rankwright::plan::TrainingConfig config =
      config_of("world_size: 8\nparallelism: {tp_size: 2, pp_size: 2, dp_size: 2}\n");
  importer::RunLog log = log_of(config, 1);
  add_peak(log, 0, {.allocated = 1.0_GB});
  log.oom = importer::OutOfMemory{.wanted = 1.0_GB};
  const GapView view = make_gap_view(config, catalog::get_calibration(), log, nullptr);
  EXPECT_FALSE(view.memory.has_value());
  EXPECT_FALSE(view.oom.has_value());
}

}  // namespace gap_view_test
}  // namespace rankwright::planner
