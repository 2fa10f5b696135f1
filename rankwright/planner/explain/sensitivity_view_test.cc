#include "rankwright/planner/explain/sensitivity_view.h"

#include <gtest/gtest.h>

#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace sensitivity_view_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

TEST(SensitivityView, Constants_AreSortedByEffect) {
  const SensitivityView view = make_sensitivity_view(config_of(kPlan));
  ASSERT_GT(view.constants.size(), 12u);
  for (std::size_t i = 1; i < view.constants.size(); ++i)
    EXPECT_LE(view.constants[i].moves, view.constants[i - 1].moves);
}

TEST(RivalsView, PlanAgainstItself_HasNoLead) {
  const rankwright::plan::TrainingConfig plan = config_of(kPlan);
  const RivalsView view = make_rivals_view(plan, plan);
  EXPECT_DOUBLE_EQ(view.comparison.lead, 0);
  EXPECT_EQ(view.first.time(), view.second.time());
}

TEST(RivalsView, RecomputingAllLayers_IsSlower) {
  rankwright::plan::TrainingConfig slow = config_of(kPlan);
  slow.plan.recompute = plan::Recompute::full;  // one more forward pass: a third of the work
  const RivalsView view = make_rivals_view(config_of(kPlan), slow);
  EXPECT_GT(view.comparison.lead, 0.1);
  EXPECT_GT(view.second.time(), view.first.time());
}

}  // namespace sensitivity_view_test
}  // namespace rankwright::planner
