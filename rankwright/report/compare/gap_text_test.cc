#include "rankwright/report/compare/gap_text.h"

#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"

namespace rankwright {
namespace gap_text_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlan[] =
    "world_size: 8\nmodel: llama-3.1-8b\ncluster: dgx-h100\n"
    "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 1}\n"
    "job: {global_batch: 32, sequence: 8192}\n";

rankwright::TrainingConfig config_of(const std::string& text) {
  return resolve(read_plan(text, "plan.yaml", refuse_file).draft);
}

/// Ten lines of a step that takes so many times what is predicted.
RunLog log_of(const rankwright::TrainingConfig& config, double times) {
  RunLog log;
  for (i64 i = 1; i <= 10; ++i)
    add_step(log, {.iteration = i, .time = times * step_time(config, calibration()).total()});
  return log;
}

TEST(GapText, InsideTheError_NamesNothingToLookAt) {
  const rankwright::TrainingConfig config = config_of(kPlan);
  const std::string text =
      gap_text(config, gap_view(config, calibration(), log_of(config, 1.05), nullptr), {}, 100);
  EXPECT_THAT(text, HasSubstr("5 % longer, which is inside the error"));
  EXPECT_THAT(text, Not(HasSubstr("look at:")));
}

TEST(GapText, PutsSettingsFirstThatTheLogStatesOtherwise) {
  const rankwright::TrainingConfig config = config_of(kPlan);
  RunLog log = log_of(config, 1.5);
  log.world = 16;
  const std::string text = gap_text(config, gap_view(config, calibration(), log, nullptr), {}, 100);
  EXPECT_LT(text.find("says otherwise"), text.find("measured "));
}

TEST(GapText, WithoutTimersSaysThatTheStepAloneDoesNotTell) {
  const rankwright::TrainingConfig config = config_of(kPlan);
  const GapView view = gap_view(config, calibration(), log_of(config, 1.18), nullptr);
  EXPECT_THAT(gap_text(config, view, {}, 100), HasSubstr("timers would"));
  EXPECT_THAT(gap_markdown(config, view), HasSubstr("## step"));
}

TEST(GapText, OfARunThatNothingExplainsSaysSo) {
  const rankwright::TrainingConfig config = config_of(kPlan);
  const GapView view = gap_view(config, calibration(), log_of(config, 20), nullptr);
  EXPECT_THAT(gap_text(config, view, {}, 100), HasSubstr("nothing that is plausible"));
}

}  // namespace gap_text_test
}  // namespace rankwright
