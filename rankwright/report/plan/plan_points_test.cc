#include "rankwright/report/plan/plan_points.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/reports.h"

namespace rankwright::report {
namespace plan_points_test {

const std::string kJob =
    "model: llama-3.1-8b, cluster: dgx-h100 x 1, job: {global_batch: 64, sequence: 4096}";

planner::PlanReport with(const std::string& parallelism) {
  return report_of("{" + kJob + ", parallelism: {" + parallelism + "}}");
}

bool dominates(const PlanPoint& a, const PlanPoint& b) {
  return a.fits && a.time <= b.time && a.memory <= b.memory &&
         (a.time < b.time || a.memory < b.memory);
}

std::vector<PlanPoint> find_front(const planner::PlanReport& report) {
  std::vector<PlanPoint> front;
  for (const PlanPoint& p : collect_points(report).points)
    if (p.role == PlanPoint::Role::front) front.push_back(p);
  return front;
}

// Microbatches of 2 keep twice the activations, and half as many of them leave a larger bubble.
TEST(CollectPoints, DropsDominatedFrontPoints) {
  planner::PlanReport report = with("dp_size: 8, zero_stage: 0");
  ASSERT_FALSE(report.explain_view.estimate.fits());
  const planner::PlanReport lean = with("pp_size: 8, recompute: full");
  ASSERT_TRUE(lean.explain_view.estimate.fits());
  plan::Plan wasteful = lean.config.plan;
  wasteful.micro_batch = 2;
  rankwright::plan::TrainingConfig open = report.config;
  open.plan = {};
  planner::PlanAnswer view{.problem = search::make_problem(open)};
  view.answer.front = {{.plan = wasteful}, {.plan = lean.config.plan}};
  add_search(report, view);
  const std::vector<PlanPoint> front = find_front(report);
  ASSERT_EQ(front.size(), 1u);
  EXPECT_EQ(front.front().config.plan, lean.config.plan);
}

TEST(CollectPoints, NoPointDominatesTheFront) {
  planner::PlanReport report = with("tp_size: 8, recompute: full");
  rankwright::plan::TrainingConfig open = report.config;
  open.plan = {};
  planner::PlanAnswer view{.problem = search::make_problem(open)};
  view.answer = find_answer(view.problem, select_calibration(open));
  ASSERT_FALSE(view.answer.front.empty());
  add_search(report, view);
  const std::vector<PlanPoint> front = find_front(report);
  ASSERT_FALSE(front.empty());
  for (const PlanPoint& p : front)
    for (const PlanPoint& q : collect_points(report).points) EXPECT_FALSE(dominates(q, p));
}

}  // namespace plan_points_test
}  // namespace rankwright::report
