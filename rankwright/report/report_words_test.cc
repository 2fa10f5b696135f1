#include "rankwright/report/report_words.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/setups.h"

namespace rankwright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kJob =
    "model: llama-3.1-8b, cluster: dgx-h100 x 1, job: {global_batch: 64, sequence: 4096}";

PlanReport report_of(const std::string& degrees, bool searched = true) {
  const rankwright::Setup setup = setup_of("{" + std::string(kJob) + ", " + degrees + "}");
  if (!searched) return plan_report("plan.yaml", setup, {});
  rankwright::Setup open = setup;
  open.plan = {};
  PlanView view{.problem = problem(open)};
  view.answer = answer(view.problem, calibration(open));
  PlanReport report = plan_report("plan.yaml", setup, {});
  add_search(report, view);
  return report;
}

TEST(PlanVerdict, SaysThatAPlanIsTheFastest) {
  PlanReport first = report_of("parallelism: {dp_size: 8, zero_stage: 1}");
  const rankwright::Setup best = first.search->best().setup;
  PlanReport report = plan_report("plan.yaml", best, {});
  add_search(report, *first.search);
  const PlanVerdict verdict = plan_verdict(report);
  EXPECT_EQ(verdict.standing, report.sheet.estimate.sure() ? Standing::good : Standing::unsure);
  EXPECT_THAT(verdict.sentence, HasSubstr("no layout that was found is faster"));
}

TEST(PlanVerdict, SaysWhatIsFasterAndByHowMuch) {
  const PlanReport report = report_of("parallelism: {tp_size: 8, recompute: full}");
  const PlanVerdict verdict = plan_verdict(report);
  EXPECT_EQ(verdict.standing, Standing::slower);
  EXPECT_THAT(verdict.sentence, StartsWith("It fits, with "));
  EXPECT_THAT(verdict.sentence, HasSubstr("% less: "));
  ASSERT_FALSE(report.points.empty());
  EXPECT_EQ(report.points.front().role, PlanPoint::Role::itself);
}

// 8 B parameters of 16 bytes and more are 128 GB on every device.
TEST(PlanVerdict, SaysThatAPlanDoesNotFit) {
  const PlanVerdict verdict = plan_verdict(report_of("parallelism: {dp_size: 8, zero_stage: 0}"));
  EXPECT_EQ(verdict.standing, Standing::refused);
  EXPECT_THAT(verdict.sentence, StartsWith("It does not fit: pp rank 0 takes "));
}

TEST(PlanVerdict, SaysNothingOfMemoryWhereNoModelIsNamed) {
  const PlanReport report =
      plan_report("plan.yaml", setup_of("{world_size: 8, parallelism: {tp_size: 8}}"), {});
  EXPECT_EQ(plan_verdict(report).standing, Standing::unsure);
  EXPECT_THAT(plan_verdict(report).sentence,
              StartsWith("Whether it fits cannot be said: no model is named; a step takes "));
  EXPECT_THAT(unsearched_words(report), HasSubstr("rankwright report plan.yaml --model "));
  EXPECT_TRUE(why_words(report).empty());
}

TEST(KeyFigures, AreThoseOfTheEstimate) {
  const PlanReport report = report_of("parallelism: {dp_size: 8, zero_stage: 1}", false);
  const std::vector<KeyFigure> figures = key_figures(report);
  ASSERT_EQ(figures.size(), 5u);
  EXPECT_EQ(figures[0].name, "step");
  EXPECT_EQ(figures[4].name, "memory");
  EXPECT_THAT(figures[4].detail, HasSubstr("left"));
}

TEST(NextCommands, NameThePlanAndWhatATargetWouldRefuse) {
  PlanReport report = report_of("parallelism: {tp_size: 2, pp_size: 4}", false);
  report.name = "my plan.yaml";
  const std::vector<NextCommand> commands = next_commands(report);
  EXPECT_THAT(commands,
              Contains(Field(&NextCommand::command, "rankwright explain \"my plan.yaml\"")));
  EXPECT_THAT(commands, Contains(Field(&NextCommand::remark, HasSubstr("RW05"))));
}

TEST(TypedWord, IsQuotedWhereAShellWouldReadMore) {
  EXPECT_EQ(typed_word("plan.yaml"), "plan.yaml");
  EXPECT_EQ(typed_word(""), "\"\"");
  EXPECT_EQ(typed_word("dgx-h100 x 8"), "\"dgx-h100 x 8\"");
  EXPECT_EQ(typed_word("a;b"), "\"a;b\"");
  EXPECT_EQ(typed_word("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(typed_word("it's $5"), "'it'\\''s $5'");
}

TEST(HoldsWords, CountLayersAndNameTheEnds) {
  EXPECT_EQ(holds_words({.layers = 8, .embedding = true}), "8 layers, embedding");
  EXPECT_EQ(holds_words({.layers = 1, .mtp = 1, .loss = true}),
            "1 layer, 1 MTP module, head and loss");
  EXPECT_EQ(holds_words({.layers = 4}), "4 layers");
}

}  // namespace
}  // namespace rankwright
