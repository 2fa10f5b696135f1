#include "rankwright/planner/explain/what_if.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/planner/explain.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace what_if_test {

using ::testing::ElementsAre;

std::vector<SweepView> what_if(const std::string& plan) {
  const importer::PlanFile file = importer::read_plan(plan, "plan.yaml", importer::refuse_file);
  return make_what_if(config_of(plan), file.draft, rules::Target::any);
}

std::vector<std::string_view> keys_of(const std::vector<SweepView>& views) {
  std::vector<std::string_view> keys;
  for (const SweepView& view : views) keys.push_back(view.key->name);
  return keys;
}

const std::string kHead = "cluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n";
const std::string kDense =
    "model: llama-3.1-8b\n" + kHead + "parallelism: {tp_size: 4, dp_size: 4}\n";
const std::string kExperts =
    "model: mixtral-8x7b\n" + kHead + "parallelism: {pp_size: 2, dp_size: 8, ep_size: 8}\n";

TEST(WhatIf, HasTheSettingsThatThePlanCanChange) {
  EXPECT_THAT(keys_of(what_if(kDense)),
              ElementsAre("tp", "pp", "cp", "zero", "micro_batch", "recompute"));
  EXPECT_THAT(keys_of(what_if(kExperts)),
              ElementsAre("tp", "pp", "chunks", "cp", "ep", "zero", "micro_batch", "recompute"));
}

TEST(WhatIf, OneDevice_HasNoDegrees) {
  EXPECT_THAT(keys_of(what_if("model: gpt2\ncluster: dgx-h100 x 1\nworld_size: 1\n"
                              "job: {global_batch: 8, sequence: 128}\nparallelism: {}\n")),
              ElementsAre("zero", "micro_batch", "recompute"));
}

TEST(WhatIf, EachSettingHasThePlanItself_WithTheFiguresOfExplain) {
  const Outcome<ExplainAnswer> explained = explain_plan({.plan = {"plan.yaml", kExperts}});
  ASSERT_TRUE(explained.has_value());
  for (const SweepView& view : what_if(kExperts)) {
    i64 own = 0;
    for (const SweepRow& row : view.rows) {
      if (!row.own) continue;
      ++own;
      EXPECT_EQ(row.estimate.time(), explained->explain_view.estimate.time());
      EXPECT_EQ(row.estimate.memory, explained->explain_view.estimate.memory);
    }
    EXPECT_EQ(own, 1) << view.key->name;
  }
}

TEST(WhatIf, OwnValueBeyondTheUsualRange_IsShown) {
  for (const SweepView& view : what_if("model: llama-3.1-8b\n" + kHead +
                                       "parallelism: {tp_size: 8, dp_size: 2, micro_batch: 16}\n"))
    EXPECT_TRUE(std::any_of(view.rows.begin(), view.rows.end(), [](const SweepRow& row) {
      return row.own;
    })) << view.key->name;
}

TEST(WhatIf, Stopped_HasNothingMore) {
  const importer::PlanFile file = importer::read_plan(kDense, "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(
      make_what_if(config_of(kDense), file.draft, rules::Target::any, [] { return true; }).empty());
}

// A plan without a file is estimated as if it had been written to one.
RC_GTEST_PROP(WhatIf, DraftOfAPlan_IsThePlan, ()) {
  const i64 pp = *rc::gen::element(1, 2, 4), chunks = pp > 1 ? *rc::gen::element(1, 2) : 1;
  const rankwright::plan::TrainingConfig config = config_of(
      fmt::format("model: {}\ncluster: dgx-h100 x 4\njob: {{global_batch: 64, sequence: 2048}}\n"
                  "parallelism: {{tp_size: {}, pp_size: {}, zero_stage: {}, virtual_stages: {}}}\n",
                  *rc::gen::element<std::string>("llama-3.1-8b", "mixtral-8x7b"),
                  *rc::gen::element(1, 2, 4), pp, *rc::gen::element(0, 1), chunks));
  const rankwright::plan::TrainingConfig read = resolve(make_draft(config));
  const cluster::Calibration& calibration = select_calibration(config);
  RC_ASSERT(cost::estimate_closely(read, calibration).time() ==
            cost::estimate_closely(config, calibration).time());
  RC_ASSERT(cost::estimate_closely(read, calibration).memory ==
            cost::estimate_closely(config, calibration).memory);
}

}  // namespace what_if_test
}  // namespace rankwright::planner
