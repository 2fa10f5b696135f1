#include "rankwright/report/compare/gap_text.h"

#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"

namespace rankwright::report {
namespace gap_text_test {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(GapText, InsideTheError_OffersNoExplanation) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const std::string text = render_gap_text(
      config,
      planner::make_gap_view(config, catalog::get_calibration(), make_log(config, 1.05), nullptr),
      {}, 100);
  EXPECT_THAT(text, HasSubstr("5 % longer, which is inside the error"));
  EXPECT_THAT(text, Not(HasSubstr("look at:")));
}

TEST(GapText, ListsSettingsThatDifferFromTheLogFirst) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  importer::RunLog log = make_log(config, 1.5);
  log.world = 16;
  const std::string text = render_gap_text(
      config, planner::make_gap_view(config, catalog::get_calibration(), log, nullptr), {}, 100);
  EXPECT_LT(text.find("says otherwise"), text.find("measured "));
}

TEST(GapText, WithoutTimers_SaysThatTheStepTimeIsNotEnough) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const planner::GapView view =
      planner::make_gap_view(config, catalog::get_calibration(), make_log(config, 1.18), nullptr);
  EXPECT_THAT(render_gap_text(config, view, {}, 100), HasSubstr("timers would"));
  EXPECT_THAT(render_gap_markdown(config, view), HasSubstr("## step"));
}

TEST(GapText, UnexplainedRun_SaysSo) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const planner::GapView view =
      planner::make_gap_view(config, catalog::get_calibration(), make_log(config, 20), nullptr);
  EXPECT_THAT(render_gap_text(config, view, {}, 100), HasSubstr("nothing that is plausible"));
}

TEST(GapMarkdown, NamesAreEscaped) {
  rankwright::plan::TrainingConfig config = config_of(kPlan);
  planner::GapView view =
      planner::make_gap_view(config, catalog::get_calibration(), make_log(config, 1.05), nullptr);
  config.model.name = "<b>llama";
  view.log = "a*b*.log";
  view.plan = "[plan](x)";
  const std::string text = render_gap_markdown(config, view);
  EXPECT_THAT(text, HasSubstr("# a\\*b\\*.log against \\[plan](x)\n"));
  EXPECT_THAT(text, HasSubstr("&lt;b>llama"));
}

}  // namespace gap_text_test
}  // namespace rankwright::report
