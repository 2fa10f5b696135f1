#include "rankwright/planner/report.h"

#include <gtest/gtest.h>

#include "rankwright/planner/plan.h"
#include "rankwright/planner/plan/plan_options.h"
#include "tests/support/golden.h"
#include "tests/support/reports.h"

namespace rankwright::planner {
namespace plan_report_test {

const std::string kJob =
    "model: llama-3.1-8b, cluster: dgx-h100 x 1, job: {global_batch: 64, sequence: 4096}";

PlanReport report_with(const std::string& degrees) {
  return report_of("{" + kJob + ", " + degrees + "}");
}

TEST(ReportPlan, ConstraintViolationAndInvalidTrace_AreRefused) {
  ReportRequest request{.plan = {.plan = {.name = "plan.yaml",
                                          .text = "{world_size: 8, parallelism: {tp_size: 3}}"}}};
  const Outcome<PlanReport> violation = report_plan(request);
  ASSERT_FALSE(violation);
  EXPECT_EQ(violation.error().kind, Refusal::Kind::refused);
  request.plan.plan.text = "{" + kJob + ", parallelism: {tp_size: 8}}";
  request.measured = SourceFile{.name = "step.json", .text = "{}"};
  const Outcome<PlanReport> untraced = report_plan(request);
  ASSERT_FALSE(untraced);
  EXPECT_EQ(untraced.error().kind, Refusal::Kind::unreadable);
  EXPECT_EQ(untraced.error().file.name, "step.json");
}

TEST(ReportPlan, Search_CanBeTurnedOff) {
  ReportRequest request{
      .plan = {.plan = {.name = "plan.yaml", .text = "{" + kJob + ", parallelism: {tp_size: 8}}"}},
      .search = false};
  EXPECT_FALSE(report_plan(request).value().search);
  request.search = true;
  const PlanReport report = report_plan(request).value();
  EXPECT_FALSE(report.search.value().neighbors.empty());
  EXPECT_FALSE(report.front.empty());
  EXPECT_EQ(report.config.plan.tp, 8);
}

// 70 B parameters have 1.1 TB of states; a node has 0.6 TB.
TEST(ReportFoundPlan, NothingFits_ReportsTheLeanestPlanAndWhereItFits) {
  const PlanAnswer answer =
      find_plan(read_plan_options({{"model", "llama-3.1-70b"}, {"cluster", "dgx-a100"}}).value())
          .value();
  ASSERT_FALSE(answer.answer.best);
  ASSERT_TRUE(can_report(answer));
  const PlanReport report = report_found_plan("plan.yaml", answer);
  EXPECT_EQ(report.config.plan, answer.leanest.value().config.plan);
  EXPECT_FALSE(report.explain_view.estimate.fits());
  EXPECT_EQ(report.advice.kind, Advice::Kind::grow);
  EXPECT_EQ(report.advice.plan.value().config.world, answer.fewest.value().gpus);
  EXPECT_FALSE(can_report({.problem = answer.problem}));
}

TEST(TraceMismatch, SamePipeline_Matches) {
  for (const char* degrees :
       {"parallelism: {tp_size: 2, pp_size: 4}", "parallelism: {dp_size: 8, zero_stage: 1}",
        "parallelism: {tp_size: 2, pp_size: 4, schedule: interleaved-1f1b, virtual_stages: 2}",
        "parallelism: {tp_size: 2, pp_size: 4, schedule: dualpipe-v, virtual_stages: 2}"}) {
    const PlanReport report = report_with(degrees);
    EXPECT_EQ(find_trace_mismatch(report.config, run_as_simulated(report)), "") << degrees;
  }
}

// 64 microbatches through 8 stages are 512 forward cells; through 4 stages, 256.
TEST(TraceMismatch, OtherStageCount_IsNamed) {
  const PlanReport plain = report_with("parallelism: {tp_size: 2, pp_size: 4}");
  const PlanReport chunks = report_with(
      "parallelism: {tp_size: 2, pp_size: 4, schedule: interleaved-1f1b, virtual_stages: 2}");
  golden::expect("planner/trace-other-stages.txt",
                 find_trace_mismatch(chunks.config, run_as_simulated(plain)) + "\n" +
                     find_trace_mismatch(plain.config, run_as_simulated(chunks)) + "\n");
}

// One of 64 x 4 = 256 forward cells is missing.
TEST(TraceMismatch, CellsOnAnotherRankAndMissingCells_AreNamed) {
  const PlanReport report = report_with("parallelism: {tp_size: 2, pp_size: 4}");
  importer::RunTrace swapped = run_as_simulated(report);
  std::swap(swapped.ranks[0], swapped.ranks[1]);
  importer::RunTrace cut = run_as_simulated(report);
  std::erase_if(cut.ranks[2],
                [](const importer::TraceSlice& slice) { return slice.name == "2F63"; });
  golden::expect("planner/trace-other-cells.txt",
                 find_trace_mismatch(report.config, swapped) + "\n" +
                     find_trace_mismatch(report.config, cut) + "\n");
}

}  // namespace plan_report_test
}  // namespace rankwright::planner
