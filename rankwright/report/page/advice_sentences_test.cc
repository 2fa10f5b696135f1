#include "rankwright/report/page/advice_sentences.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace advice_sentences_test {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

planner::PlanReport report_on(const std::string& degrees) {
  return planner::build_plan_report(
      "plan.yaml",
      config_of("{model: llama-3.1-8b, cluster: dgx-h100 x 1, job: {global_batch: 64, sequence: "
                "4096}, parallelism: {" +
                degrees + "}}"),
      {});
}

/// Returns a report with an invented search result, so that every case can be tested.
planner::PlanReport report_against(const std::string& degrees, const std::string& best,
                                   double band) {
  planner::PlanReport report = report_on(degrees);
  plan::TrainingConfig open = report.config;
  open.plan = {};
  planner::PlanAnswer view{.problem = search::make_problem(open)};
  view.answer.band = band;
  if (!best.empty()) view.answer.best = report_on(best).evaluated();
  add_search(report, view);
  return report;
}

constexpr const char* kSlow = "tp_size: 8, recompute: full";
constexpr const char* kFast = "tp_size: 4, dp_size: 2, zero_stage: 1";
constexpr const char* kTooLarge = "dp_size: 8, zero_stage: 0";

using Kind = planner::Advice::Kind;

TEST(Advice, FasterPlan_ListsOnlyTheKeysThatChange) {
  const planner::PlanReport report = report_against(kSlow, kFast, 0.01);
  EXPECT_EQ(report.advice.kind, Kind::change);
  std::vector<std::string_view> keys;
  for (const planner::KeyDifference& one : report.advice.changes) {
    EXPECT_NE(one.a, one.b) << one.key;
    keys.push_back(one.key);
  }
  EXPECT_THAT(keys, Contains("parallelism.tp_size"));
  EXPECT_THAT(keys, Contains("parallelism.recompute"));
  EXPECT_THAT(keys, Not(Contains("parallelism.pp_size")));
  const AdviceCard card = make_advice_card(report);
  EXPECT_EQ(card.command, "rankwright plan plan.yaml -o better.yaml");
  EXPECT_THAT(card.file, HasSubstr("tp_size: 4"));
}

TEST(Advice, PlanWithinTheMarginOfError_IsToBeBenchmarked) {
  const planner::PlanReport report = report_against(kSlow, kFast, 9);
  EXPECT_EQ(report.advice.kind, Kind::benchmark);
  EXPECT_THAT(make_advice_card(report).sentence, HasSubstr("Too close to call"));
}

TEST(Advice, BestPlan_IsKept) {
  const planner::PlanReport report = report_against(kFast, kFast, 0.01);
  EXPECT_EQ(report.advice.kind, Kind::keep);
  EXPECT_THAT(report.advice.changes, IsEmpty());
  EXPECT_THAT(make_advice_card(report).command, HasSubstr("rankwright export plan.yaml --to "));
}

TEST(Advice, PlanThatDoesNotFit_IsChangedEvenIfFaster) {
  const planner::PlanReport report = report_against(kTooLarge, kFast, 9);
  EXPECT_EQ(report.advice.kind, Kind::change);
  EXPECT_THAT(make_advice_card(report).sentence, HasSubstr("which fits"));
}

TEST(Advice, NothingFits_AsksForMoreGpus) {
  planner::PlanReport report = report_against(kTooLarge, "", 0);
  EXPECT_EQ(report.advice.kind, Kind::grow);
  EXPECT_THAT(make_advice_card(report).sentence, HasSubstr("No layout fits 8 GPUs."));
  // With a larger GPU count that fits.
  search::EvaluatedPlan larger = report_on(kFast).evaluated();
  larger.config.world = 16;
  report.search->fewest = search::CountRow{.gpus = 16, .plan = larger};
  report.advice = planner::advise(report.evaluated(), *report.search, {});
  const AdviceCard card = make_advice_card(report);
  EXPECT_THAT(card.sentence, HasSubstr("16 GPUs are enough"));
  EXPECT_THAT(report.advice.changes, Contains(Field(&planner::KeyDifference::key, "world_size")));
  EXPECT_EQ(card.command, "rankwright plan plan.yaml --cluster \"dgx-h100 x 2\" -o better.yaml");
}

TEST(Advice, WithoutModelOrSearch_SaysWhatToType) {
  const planner::PlanReport unnamed = planner::build_plan_report(
      "plan.yaml", config_of("{world_size: 8, parallelism: {tp_size: 8}}"), {});
  EXPECT_EQ(unnamed.advice.kind, Kind::inform);
  EXPECT_THAT(make_advice_card(unnamed).command, HasSubstr("--model llama-3.1-70b"));
  planner::PlanReport unsearched = report_on(kFast);
  unsearched.overrides = " --seq 8192";
  EXPECT_EQ(make_advice_card(unsearched).command, "rankwright report plan.yaml --seq 8192");
}

TEST(Advice, KnownTokensAndPrice_AreCounted) {
  planner::PlanReport report = report_against(kSlow, kFast, 0.01);
  const auto has = [](const AdviceCard& card, std::string_view name) {
    return std::any_of(card.gains.begin(), card.gains.end(),
                       [&](const Gain& gain) { return gain.name == name; });
  };
  EXPECT_TRUE(has(make_advice_card(report), "GPU-hours per step"));
  EXPECT_FALSE(has(make_advice_card(report), "cost"));
  add_training(report, {.tokens = 1e12, .price = planner::Price{.amount = 2.5, .before = "$"}});
  report.advice = planner::advise(report.evaluated(), *report.search, report.training);
  const AdviceCard card = make_advice_card(report);
  EXPECT_TRUE(has(card, "GPU-hours"));
  EXPECT_TRUE(has(card, "cost"));
  std::string text;
  for (const Gain& gain : card.gains)
    text += fmt::format("{}: {} -> {} ({})\n", gain.name, gain.now, gain.after, gain.difference);
  golden::expect("report/advice-gains.txt", text);
}

}  // namespace advice_sentences_test
}  // namespace rankwright::report
