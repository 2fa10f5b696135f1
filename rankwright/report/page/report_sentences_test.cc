#include "rankwright/report/page/report_sentences.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/plan/plan_points.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "tests/support/golden.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace report_sentences_test {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

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

std::string write_verdict(const planner::PlanReport& report) {
  const PlanVerdict verdict = make_plan_verdict(report);
  return fmt::format("{}: {}\n", name(verdict.standing), verdict.sentence);
}

TEST(PlanVerdict, ComparesWithTheFastestPlanNotTheChosenOne) {
  ASSERT_GT(compute_slowdown(kSlow, kMiddle), 0);
  ASSERT_GT(compute_slowdown(kMiddle, kFast), 0);
  const double between = (compute_slowdown(kSlow, kMiddle) + compute_slowdown(kSlow, kFast)) / 2;
  const planner::PlanReport report =
      report_against(kSlow, {.best = kMiddle, .fastest = kFast, .band = between});
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::slower);
  for (const char* named : {kSlow, kMiddle, kFast})
    EXPECT_THAT(verdict.sentence, HasSubstr(time_of(named)));
  const planner::PlanReport tie =
      report_against(kSlow, {.best = kMiddle, .fastest = kFast, .band = 9});
  EXPECT_EQ(make_plan_verdict(tie).standing, Standing::tie);
  golden::expect("report/verdict-slower.txt", write_verdict(report) + write_verdict(tie));
}

// Neither of the two is faster than the other by more than the model's error.
TEST(PlanVerdict, ChosenPlanAndFastestPlan_AreBothGood) {
  const planner::PlanReport chosen =
      report_against(kMiddle, {.best = kMiddle, .fastest = kFast, .band = 9});
  EXPECT_EQ(make_plan_verdict(chosen).standing, Standing::good);
  const planner::PlanReport fastest =
      report_against(kFast, {.best = kMiddle, .fastest = kFast, .band = 9});
  EXPECT_EQ(make_plan_verdict(fastest).standing, Standing::good);
  golden::expect("report/verdict-good.txt", write_verdict(chosen) + explain_choice(chosen).front() +
                                                "\n\n" + write_verdict(fastest) +
                                                explain_choice(fastest).front() + "\n");
}

// It would be faster than the only plan that fits, but it cannot run: 8 B parameters of at least 16
// bytes each are 128 GB on every device.
TEST(PlanVerdict, PlanThatDoesNotFit_IsRefusedEvenIfFaster) {
  ASSERT_LT(compute_slowdown(kTooLarge, kMiddle), 0);
  const planner::PlanReport report = report_against(kTooLarge, {.best = kMiddle, .band = 9});
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::refused);
  EXPECT_THAT(verdict.sentence, HasSubstr("does not fit"));
  EXPECT_THAT(verdict.sentence, HasSubstr(time_of(kMiddle)));
  // A search of all layouts refuses it too.
  const planner::PlanReport searched = report_with(kTooLarge);
  EXPECT_EQ(make_plan_verdict(searched).standing, Standing::refused);
  golden::expect("report/verdict-refused.txt", write_verdict(report) + write_verdict(searched));
}

TEST(PlanVerdict, WithoutSearch_OnlySaysThatItFits) {
  const planner::PlanReport report = report_with(kFast, false);
  const PlanVerdict verdict = make_plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::fits);
  EXPECT_THAT(verdict.sentence, HasSubstr(time_of(kFast)));
  golden::expect("report/verdict-not-searched.txt", write_verdict(report));
}

TEST(PlanVerdict, FastestPlan_SaysSo) {
  planner::PlanReport first = report_with("parallelism: {dp_size: 8, zero_stage: 1}");
  const rankwright::plan::TrainingConfig best = first.search->best().config;
  planner::PlanReport report = planner::build_plan_report("plan.yaml", best, {});
  add_search(report, *first.search);
  EXPECT_EQ(make_plan_verdict(report).standing,
            report.explain_view.estimate.sure() ? Standing::good : Standing::unsure);
  golden::expect("report/verdict-fastest.txt", write_verdict(report));
}

TEST(PlanVerdict, SlowerPlan_NamesAFasterOne) {
  const planner::PlanReport report = report_with(kSlow);
  EXPECT_EQ(make_plan_verdict(report).standing, Standing::slower);
  golden::expect("report/verdict-slower-than-found.txt", write_verdict(report));
  const PlanPoints drawn = collect_points(report);
  ASSERT_FALSE(drawn.points.empty());
  EXPECT_EQ(drawn.points.front().role, PlanPoint::Role::itself);
}

TEST(PlanVerdict, WithoutModel_SaysNothingAboutMemory) {
  const planner::PlanReport report = planner::build_plan_report(
      "plan.yaml", config_of("{world_size: 8, parallelism: {tp_size: 8}}"), {});
  EXPECT_EQ(make_plan_verdict(report).standing, Standing::unsure);
  EXPECT_TRUE(explain_choice(report).empty());
  golden::expect("report/verdict-no-model.txt",
                 write_verdict(report) + explain_missing_search(report) + "\n");
}

TEST(KeyFigures, MatchTheEstimate) {
  const planner::PlanReport report = report_with("parallelism: {dp_size: 8, zero_stage: 1}", false);
  const std::vector<KeyFigure> figures = list_key_figures(report);
  ASSERT_EQ(figures.size(), 5u);
  EXPECT_EQ(figures[0].name, "step");
  EXPECT_EQ(figures[4].name, "memory");
  // The speed of a plan that does not fit is hypothetical.
  EXPECT_EQ(list_key_figures(report_with(kTooLarge, false)).front().name, "memory");
  std::string text;
  for (const KeyFigure& figure : figures)
    text += fmt::format("{}: {} ({})\n", figure.name, figure.text, figure.detail);
  golden::expect("report/key-figures.txt", text);
}

TEST(KeyFigures, KnownTokensAndPrice_GiveTimeGpuHoursAndCost) {
  planner::PlanReport report = report_with("parallelism: {dp_size: 8, zero_stage: 1}", false);
  add_training(report, {.tokens = 1e12});
  const std::size_t without_price = list_key_figures(report).size();
  EXPECT_EQ(without_price, 7u);
  add_training(report, {.tokens = 1e12, .price = planner::Price{.amount = 2.5, .before = "$"}});
  const std::vector<KeyFigure> figures = list_key_figures(report);
  ASSERT_EQ(figures.size(), without_price + 1);
  std::string text;
  for (const KeyFigure& figure : figures)
    text += fmt::format("{}: {} ({})\n", figure.name, figure.text, figure.detail);
  golden::expect("report/key-figures-of-training.txt", text);
}

TEST(DescribeMeasurement, SaysWhetherTheSlicesAreDrawn) {
  planner::PlanReport report = report_with("parallelism: {tp_size: 2, pp_size: 4}", false);
  report.measured = run_as_simulated(report);
  EXPECT_TRUE(can_be_drawn(*report.measured));
  const std::string drawn = describe_measurement(report);
  report.measured->ranks[0].resize(std::size_t(kMaxDrawnCells) + 1);
  EXPECT_FALSE(can_be_drawn(*report.measured));
  golden::expect("report/measurement.txt",
                 "drawn: " + drawn + "\ntoo many slices: " + describe_measurement(report) + "\n");
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
  golden::expect("report/stage-contents.txt",
                 describe_contents({.layers = 8, .embedding = true}) + "\n" +
                     describe_contents({.layers = 1, .mtp = 1, .loss = true}) + "\n" +
                     describe_contents({.layers = 4}) + "\n");
}

}  // namespace report_sentences_test
}  // namespace rankwright::report
