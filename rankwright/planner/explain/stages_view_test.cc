#include "rankwright/planner/explain/stages_view.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/cost/work.h"
#include "tests/support/sample.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace stages_view_test {

rankwright::plan::TrainingConfig deepseek() {
  return config_of(
      "model: deepseek-v3\ncluster: dgx-h100 x 16\n"
      "parallelism: {pp_size: 16, dp_size: 8, ep_size: 8, zero_stage: 1}\n"
      "job: {global_batch: 512, sequence: 4096}\n");
}

TEST(StagesView, EvenStages_AreKept) {
  // 126 layers on 16 ranks: 14 x 8 + 2 x 7. A maximum of 8 layers per rank is optimal.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-405b\ncluster: dgx-h100 x 16\n"
      "parallelism: {tp_size: 8, pp_size: 16}\njob: {global_batch: 64, sequence: 8192}\n");
  const StagesView view = make_stages_view(config);
  EXPECT_TRUE(view.best.proved);
  EXPECT_EQ(view.best_imbalance, view.imbalance);
}

TEST(StagesView, LargeHead_GetsFewerLayers) {
  const rankwright::plan::TrainingConfig config = deepseek();
  const StagesView view = make_stages_view(config);
  EXPECT_LT(view.best_imbalance, view.imbalance / 2);
  const std::string layout = show_layout(view.best.stages);
  EXPECT_EQ(plan::parse_layout(layout).value(), view.best.stages);
}

TEST(StagesView, TorchtitansSettings_ReachTheBestSplit) {
  // 32 layers on 8 ranks, and a head worth 2.1 layers. The last rank gets two layers fewer, and the
  // other 30 are distributed: 5 5 4 4 4 4 4 2 is optimal.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100\nparallelism: {pp_size: 8}\n"
      "job: {global_batch: 64, sequence: 8192}\n");
  const StagesView view = make_stages_view(config);
  ASSERT_TRUE(view.titan.has_value());
  EXPECT_DOUBLE_EQ(view.titan_imbalance, view.best_imbalance);
}

RC_GTEST_PROP(StagesView, RandomPlan_NeverGetsAHeavierRank, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_config();
  const StagesView view = make_stages_view(config);
  if (view.best.fault != split::Split::Fault::none || !view.best.proved) return;
  // A stated split may have empty stages, which the search leaves out.
  for (const plan::Stage& stage : view.now)
    if (stage == plan::Stage{}) return;
  RC_ASSERT(view.best_imbalance <= view.imbalance + 1e-9);
  RC_ASSERT(count_layers(view.best.stages) == config.model.layers());
}

}  // namespace stages_view_test
}  // namespace rankwright::planner
