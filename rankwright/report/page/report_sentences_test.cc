#include "rankwright/report/page/report_sentences.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/plan_points.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace report_sentences_test {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kJob =
    "model: llama-3.1-8b, cluster: dgx-h100 x 1, job: {global_batch: 64, sequence: 4096}";

planner::PlanReport report_with(const std::string& degrees, bool searched = true) {
  const rankwright::plan::TrainingConfig config =
      config_of("{" + std::string(kJob) + ", " + degrees + "}");
  if (!searched) return planner::build_plan_report("plan.yaml", config, {});
  rankwright::plan::TrainingConfig open = config;
  open.plan = {};
  planner::PlanAnswer view{.problem = search::make_problem(open)};
  view.answer = find_answer(view.problem, select_calibration(open));
  planner::PlanReport report = planner::build_plan_report("plan.yaml", config, {});
  add_search(report, view);
  return report;
}

/// An invented search result for a plan, so that every case can be tested.
struct InventedSearch {
  std::string best, fastest{};
  double band = 0;
};
planner::PlanReport report_against(const std::string& degrees, const InventedSearch& found) {
  planner::PlanReport report = report_with(degrees, false);
  rankwright::plan::TrainingConfig open = report.config;
  open.plan = {};
  planner::PlanAnswer view{.problem = search::make_problem(open)};
  view.answer.band = found.band;
  view.answer.best = report_with(found.best, false).evaluated();
  if (!found.fastest.empty()) view.answer.fastest = report_with(found.fastest, false).evaluated();
  add_search(report, view);
  return report;
}

// Slowest first. All fit except the last, which is the fastest.
constexpr const char* kSlow = "parallelism: {tp_size: 8, recompute: full}";
constexpr const char* kMiddle = "parallelism: {tp_size: 8}";
constexpr const char* kFast = "parallelism: {tp_size: 4, dp_size: 2, zero_stage: 1}";
constexpr const char* kTooLarge = "parallelism: {dp_size: 8, zero_stage: 0}";

std::string time_of(const char* degrees) { return show(report_with(degrees, false).time()); }
double compute_slowdown(const char* one, const char* other) {
  return report_with(one, false).time() / report_with(other, false).time() - 1;
}

TEST(PlanVerdict, ComparesWithTheFastestPlanNotTheChosenOne) {
  ASSERT_GT(compute_slowdown(kSlow, kMiddle), 0);
  ASSERT_GT(compute_slowdown(kMiddle, kFast), 0);
  const double between = (compute_slowdown(kSlow, kMiddle) + compute_slowdown(kSlow, kFast)) / 2;
  const planner::PlanReport report =
      report_against(kSlow, {.best = kMiddle, .fastest = kFast, .band = between});
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::slower);
  EXPECT_THAT(verdict.sentence, HasSubstr("; a step takes " + time_of(kSlow) + " ±"));
  EXPECT_THAT(verdict.sentence,
              HasSubstr("; the search would run tp 8 in " + time_of(kMiddle) + " (-"));
  EXPECT_THAT(verdict.sentence,
              HasSubstr("and the fastest of all is tp 4 dp 2 ZeRO-1 in " + time_of(kFast) + " (-"));
  EXPECT_THAT(verdict.sentence, Not(HasSubstr("within the model's error")));
  const planner::PlanReport tie =
      report_against(kSlow, {.best = kMiddle, .fastest = kFast, .band = 9});
  EXPECT_EQ(make_plan_verdict(tie).standing, Standing::tie);
  EXPECT_THAT(make_plan_verdict(tie).sentence, EndsWith(": within the model's error."));
}

TEST(PlanVerdict, ChosenPlan_SaysThatNothingIsClearlyFaster) {
  const planner::PlanReport report =
      report_against(kMiddle, {.best = kMiddle, .fastest = kFast, .band = 9});
  EXPECT_EQ(make_plan_verdict(report).standing, Standing::good);
  EXPECT_THAT(make_plan_verdict(report).sentence,
              EndsWith("no layout that was found is faster by more than the model's error."));
  EXPECT_THAT(explain_choice(report).front(),
              HasSubstr("This plan is within the model's error of it"));
}

TEST(PlanVerdict, FastestPlan_NamesTheChosenOne) {
  const planner::PlanReport report =
      report_against(kFast, {.best = kMiddle, .fastest = kFast, .band = 9});
  EXPECT_EQ(make_plan_verdict(report).standing, Standing::good);
  EXPECT_THAT(make_plan_verdict(report).sentence,
              HasSubstr("no layout that was found is faster, but the search would run tp 8 in "));
  EXPECT_THAT(explain_choice(report).front(), StartsWith("The search would run tp 8 ("));
  EXPECT_THAT(explain_choice(report).front(),
              HasSubstr(". tp 8 is within the model's error of it"));
}

// It would be faster than any plan that fits, but it cannot run.
TEST(PlanVerdict, PlanThatDoesNotFit_IsRefusedEvenIfFaster) {
  ASSERT_LT(compute_slowdown(kTooLarge, kMiddle), 0);
  const planner::PlanReport report = report_against(kTooLarge, {.best = kMiddle, .band = 9});
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::refused);
  EXPECT_THAT(verdict.sentence, HasSubstr("; a step would take " + time_of(kTooLarge) + " ±"));
  EXPECT_THAT(verdict.sentence,
              HasSubstr("; the fastest that fits takes " + time_of(kMiddle) + " (+"));
  EXPECT_THAT(verdict.sentence, EndsWith(" %): tp 8."));
}

TEST(PlanVerdict, WithoutSearch_OnlySaysThatItFits) {
  const PlanVerdict verdict = make_plan_verdict(report_with(kFast, false));
  EXPECT_EQ(verdict.standing, Standing::fits);
  EXPECT_EQ(name(verdict.standing), "fits");
  EXPECT_THAT(verdict.sentence, StartsWith("It fits with margin: "));
  EXPECT_THAT(verdict.sentence, HasSubstr("; a step takes " + time_of(kFast) + " ±"));
}

TEST(PlanVerdict, FastestPlan_SaysSo) {
  planner::PlanReport first = report_with("parallelism: {dp_size: 8, zero_stage: 1}");
  const rankwright::plan::TrainingConfig best = first.search->best().config;
  planner::PlanReport report = planner::build_plan_report("plan.yaml", best, {});
  add_search(report, *first.search);
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing,
            report.explain_view.estimate.sure() ? Standing::good : Standing::unsure);
  EXPECT_THAT(verdict.sentence, HasSubstr("no layout that was found is faster"));
}

TEST(PlanVerdict, SlowerPlan_NamesAFasterOne) {
  const planner::PlanReport report = report_with("parallelism: {tp_size: 8, recompute: full}");
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::slower);
  EXPECT_THAT(verdict.sentence, StartsWith("It fits with margin: "));
  EXPECT_THAT(verdict.sentence, HasSubstr("; the search would run "));
  const PlanPoints drawn = collect_points(report);
  ASSERT_FALSE(drawn.points.empty());
  EXPECT_EQ(drawn.points.front().role, PlanPoint::Role::itself);
}

// 8 B parameters of at least 16 bytes each are 128 GB on every device.
TEST(PlanVerdict, SaysThatAPlanDoesNotFit) {
  const PlanVerdict verdict =
      make_plan_verdict(report_with("parallelism: {dp_size: 8, zero_stage: 0}"));
  EXPECT_EQ(verdict.standing, Standing::refused);
  EXPECT_THAT(verdict.sentence, StartsWith("It does not fit: over by "));
}

TEST(PlanVerdict, WithoutModel_SaysNothingAboutMemory) {
  const planner::PlanReport report = planner::build_plan_report(
      "plan.yaml", config_of("{world_size: 8, parallelism: {tp_size: 8}}"), {});
  EXPECT_EQ(make_plan_verdict(report).standing, Standing::unsure);
  EXPECT_THAT(make_plan_verdict(report).sentence,
              StartsWith("Whether it fits cannot be said: no model is named; a step takes "));
  EXPECT_THAT(explain_missing_search(report), HasSubstr("rankwright report plan.yaml --model "));
  EXPECT_TRUE(explain_choice(report).empty());
}

TEST(KeyFigures, MatchTheEstimate) {
  const planner::PlanReport report = report_with("parallelism: {dp_size: 8, zero_stage: 1}", false);
  const std::vector<KeyFigure> figures = list_key_figures(report);
  ASSERT_EQ(figures.size(), 5u);
  EXPECT_EQ(figures[0].name, "step");
  EXPECT_EQ(figures[4].name, "memory");
  EXPECT_THAT(figures[4].detail, HasSubstr("free"));
}

TEST(DescribeMeasurement, SaysWhetherTheSlicesAreDrawn) {
  planner::PlanReport report = report_with("parallelism: {tp_size: 2, pp_size: 4}", false);
  report.measured = run_as_simulated(report);
  EXPECT_TRUE(can_be_drawn(*report.measured));
  EXPECT_THAT(describe_measurement(report), EndsWith("the run took 1.00 of that."));
  report.measured->ranks[0].resize(std::size_t(kMaxDrawnCells) + 1);
  EXPECT_FALSE(can_be_drawn(*report.measured));
  EXPECT_THAT(describe_measurement(report),
              EndsWith(" slices are too many to be drawn: at most 20,000 are."));
}

TEST(NextCommands, NameThePlanAndTheRulesThatATargetBreaks) {
  planner::PlanReport report = report_with("parallelism: {tp_size: 2, pp_size: 4}", false);
  report.name = "my plan.yaml";
  const std::vector<NextCommand> commands = list_next_commands(report);
  EXPECT_THAT(commands,
              Contains(Field(&NextCommand::command, "rankwright explain \"my plan.yaml\"")));
  EXPECT_THAT(commands, Contains(Field(&NextCommand::remark, HasSubstr("RW05"))));
}

TEST(DescribeContents, CountsLayersAndNamesEmbeddingAndHead) {
  EXPECT_EQ(describe_contents({.layers = 8, .embedding = true}), "8 layers, embedding");
  EXPECT_EQ(describe_contents({.layers = 1, .mtp = 1, .loss = true}),
            "1 layer, 1 MTP module, head and loss");
  EXPECT_EQ(describe_contents({.layers = 4}), "4 layers");
}

}  // namespace report_sentences_test
}  // namespace rankwright::report
