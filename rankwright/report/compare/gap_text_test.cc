#include "rankwright/report/compare/gap_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace gap_text_test {

constexpr char kPlan[] =
    "world_size: 8\nmodel: llama-3.1-8b\ncluster: dgx-h100\n"
    "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 1}\n"
    "job: {global_batch: 32, sequence: 8192}\n";

rankwright::plan::TrainingConfig config_of(const std::string& text) {
  return resolve(importer::read_plan(text, "plan.yaml", importer::refuse_file).draft);
}

/// Returns ten log lines of a step that takes `times` times the prediction.
importer::RunLog make_log(const rankwright::plan::TrainingConfig& config, double times) {
  importer::RunLog log;
  for (i64 i = 1; i <= 10; ++i)
    add_step(log, {.iteration = i,
                   .time = times *
                           cost::estimate_step_time(config, catalog::get_calibration()).total()});
  return log;
}

/// Compares a log with its plan, by the names of their files.
planner::GapView compare_with(const rankwright::plan::TrainingConfig& config,
                              const importer::RunLog& log) {
  planner::GapView view = planner::make_gap_view(config, catalog::get_calibration(), log, nullptr);
  view.plan = "plan.yaml";
  view.log = "run.log";
  return view;
}

TEST(GapText, InsideTheError_OffersNoExplanation) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const planner::GapView view = compare_with(config, make_log(config, 1.05));
  golden::expect("compare/gap-inside-the-error.txt", render_gap_text(config, view, {}, 100));
}

TEST(GapText, ListsSettingsThatDifferFromTheLogFirst) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  importer::RunLog log = make_log(config, 1.5);
  log.world = 16;
  const planner::GapView view = compare_with(config, log);
  golden::expect("compare/gap-other-world.txt", render_gap_text(config, view, {}, 100));
}

TEST(GapText, WithoutTimers_SaysThatTheStepTimeIsNotEnough) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const planner::GapView view = compare_with(config, make_log(config, 1.18));
  golden::expect("compare/gap-step-alone.txt", render_gap_text(config, view, {}, 100));
  golden::expect("compare/gap-step-alone.md", render_gap_markdown(config, view));
}

TEST(GapText, UnexplainedRun_SaysSo) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const planner::GapView view = compare_with(config, make_log(config, 20));
  golden::expect("compare/gap-unexplained.txt", render_gap_text(config, view, {}, 100));
}

TEST(GapMarkdown, NamesAreEscaped) {
  rankwright::plan::TrainingConfig config = config_of(kPlan);
  planner::GapView view =
      planner::make_gap_view(config, catalog::get_calibration(), make_log(config, 1.05), nullptr);
  config.model.name = "<b>llama";
  view.log = "a*b*.log";
  view.plan = "[plan](x)";
  const std::string text = render_gap_markdown(config, view);
  EXPECT_THAT(text, testing::HasSubstr("# a\\*b\\*.log against \\[plan](x)\n"));
  EXPECT_THAT(text, testing::HasSubstr("&lt;b>llama"));
}

}  // namespace gap_text_test
}  // namespace rankwright::report
