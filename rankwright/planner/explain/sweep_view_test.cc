#include "rankwright/planner/explain/sweep_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/planner/explain.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace sweep_view_test {

using ::testing::HasSubstr;

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 4096}\n"
    "parallelism: {tp_size: 2, pp_size: 4, dp_size: 4, zero_stage: 1}\n";

SweepView sweep_of(const std::string& plan, const std::string& sweep) {
  Outcome<SweepAnswer> answer = explain_sweep({.plan = {"plan.yaml", plan}}, sweep);
  EXPECT_TRUE(answer.has_value()) << sweep;
  return answer ? std::move(answer->view) : SweepView{};
}

/// Returns a sweep of one value, as typed.
std::string type_sweep(const SweepKey& key, i64 value) {
  return key.names == nullptr ? fmt::format("{}={}", key.name, value)
                              : fmt::format("{}={}", key.name, key.names()[std::size_t(value)]);
}

TEST(SweepView, Microbatches_GiveTheBubblesOfTheTextbook) {
  // (p - 1) / (m + p - 1) with p = 4: 3/4, 3/7, 3/11, 3/19, 3/35, 3/67.
  const SweepView view = sweep_of(kPlan, "microbatches=1,4,8,16,32,64");
  ASSERT_EQ(view.rows.size(), 6u);
  for (const SweepRow& row : view.rows)
    EXPECT_DOUBLE_EQ(row.bubble, 3.0 / double(row.value + 3)) << row.value;
}

TEST(SweepView, OwnValue_HasTheFiguresOfExplain) {
  const Outcome<ExplainAnswer> explained = explain_plan({.plan = {"plan.yaml", kPlan}});
  ASSERT_TRUE(explained.has_value());
  const cost::Estimate& expected = explained->explain_view.estimate;
  for (const SweepKey& key : list_sweep_keys()) {
    const i64 own = key.read(explained->plan.config());
    const SweepView view = sweep_of(kPlan, type_sweep(key, own));
    ASSERT_EQ(view.rows.size(), 1u) << key.name;
    const SweepRow& row = view.rows.front();
    EXPECT_TRUE(row.own) << key.name;
    EXPECT_EQ(view.now, own) << key.name;
    EXPECT_EQ(row.estimate.time(), expected.time()) << key.name;
    EXPECT_EQ(row.estimate.memory, expected.memory) << key.name;
    EXPECT_EQ(row.mfu, cost::mfu(explained->plan.config(), expected.time())) << key.name;
  }
}

TEST(SweepView, Recomputation_TradesMemoryForTime) {
  const SweepView view = sweep_of(kPlan, "recompute");
  ASSERT_EQ(view.rows.size(), 3u);  // none, selective, full
  for (std::size_t i = 1; i < view.rows.size(); ++i)
    EXPECT_LT(view.rows[i].estimate.memory.total(), view.rows[i - 1].estimate.memory.total());
  EXPECT_GT(view.rows[2].estimate.time(), view.rows[0].estimate.time());
}

TEST(SweepView, OneStage_NeedsNoSchedule) {
  const std::string interleaved =
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 4, schedule: interleaved-1f1b, "
      "virtual_stages: 4}\n";
  const SweepView view = sweep_of(interleaved, "pp=1");
  ASSERT_EQ(view.rows.size(), 1u);
  EXPECT_EQ(view.rows[0].impossible, "");
  EXPECT_EQ(view.rows[0].config.plan.virtual_stages, 1);
}

TEST(SweepView, Microbatches_LetTheBatchGrow) {
  for (const SweepRow& row : sweep_of(kPlan, "microbatches=1..16").rows) {
    EXPECT_EQ(row.config.job.global_batch, row.value * 4);  // micro-batch 1 x DP 4
    EXPECT_EQ(row.config.plan.dp, 4);
  }
}

TEST(SweepView, Degrees_KeepWorldAndBatch) {
  for (const std::string key : {"tp", "pp"})
    for (const SweepRow& row : sweep_of(kPlan, key + "=1..8").rows) {
      EXPECT_EQ(row.config.world, 32) << key;
      EXPECT_EQ(row.config.job.global_batch, 64) << key;
      EXPECT_EQ(row.config.plan.ranks(), 32) << key;
    }
}

TEST(SweepView, ImpossibleValues_StayWithTheirReason) {
  const SweepView view = sweep_of(kPlan, "tp=2,3,64");
  ASSERT_EQ(view.rows.size(), 3u);
  EXPECT_TRUE(view.rows[0].estimated());
  // 3 x 4 = 12 does not divide 32.
  EXPECT_THAT(view.rows[1].impossible, HasSubstr("12"));
  EXPECT_THAT(view.rows[1].impossible, HasSubstr("32"));
  EXPECT_FALSE(view.rows[2].impossible.empty());
  // 32 layers cannot have 64 stages.
  const SweepView stages = sweep_of(kPlan, "chunks=1,16");
  EXPECT_THAT(stages.rows[1].impossible, HasSubstr("64"));
  // The cluster has 32 devices, and DP 8 needs 64.
  EXPECT_THAT(sweep_of(kPlan, "dp=8").rows[0].impossible, HasSubstr("64"));
}

TEST(SweepView, HugeBatch_IsRefusedNotComputed) {
  const SweepView view = sweep_of(kPlan, fmt::format("microbatches={}", plan::kMaxBatch));
  EXPECT_FALSE(view.rows[0].impossible.empty());
}

TEST(SweepView, Best_FitsAndIsTheFastest) {
  const SweepView view = sweep_of(kPlan, "microbatches=1..64");
  ASSERT_TRUE(view.best.has_value());
  for (const SweepRow& row : view.rows)
    EXPECT_TRUE(!row.runs() || row.throughput() <= view.rows[*view.best].throughput());
  // 70 B parameters of 16 bytes are 1,043 GiB; 8 H100 have 633.
  const SweepView none =
      sweep_of("model: llama-3.1-70b\ncluster: dgx-h100\nparallelism: {tp_size: 8}\n", "zero=0..3");
  EXPECT_FALSE(none.best.has_value());
  EXPECT_TRUE(list_tied_rows(none).empty());
}

TEST(SweepView, TpBeyondTheNode_CrossesInfiniband) {
  const SweepView view = sweep_of(kPlan, "tp=1,8,16");
  EXPECT_EQ(view.rows[0].link, "");
  EXPECT_EQ(view.rows[1].link, "nvlink");
  // TP 16 x PP 4 = 64 exceeds the 32 GPUs.
  EXPECT_FALSE(view.rows[2].estimated());
  const SweepView flat = sweep_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {tp_size: 8, dp_size: 4}\n",
      "tp=8,16");
  EXPECT_EQ(flat.rows[1].link, "infiniband");
  EXPECT_GT(flat.rows[1].exposed, flat.rows[0].exposed);
}

TEST(SweepView, FrameworkThatCannotRunIt_IsNotTheBest) {
  // DeepSpeed's pipelines run with ZeRO-0 and 1 only (RW0541).
  const SweepView view = sweep_of(kPlan + "software: {target: deepspeed}\n", "zero=0..3");
  EXPECT_TRUE(view.rows[0].runs() && view.rows[1].runs());
  for (const std::size_t stage : {2u, 3u}) {
    EXPECT_EQ(view.rows[stage].refused, "RW0541");
    EXPECT_TRUE(view.rows[stage].estimated());
    EXPECT_FALSE(view.rows[stage].runs());
  }
}

// --- Laws.

std::string random_plan_text() {
  const i64 tp = *rc::gen::element<i64>(1, 2, 4, 8);
  const i64 pp = *rc::gen::element<i64>(1, 2, 4, 8);
  const i64 dp = *rc::gen::element<i64>(1, 2, 4);
  const std::string model =
      *rc::gen::element<std::string>("llama-3.1-8b", "llama-3.2-1b", "llama-3.1-70b");
  const i64 batch = dp * *rc::gen::inRange<i64>(1, 17);
  const int zero = *rc::gen::inRange(0, 4);
  return fmt::format(
      "world_size: {}\nmodel: {}\nparallelism: {{tp_size: {}, pp_size: {}, dp_size: {}, "
      "zero_stage: {}}}\njob: {{global_batch: {}, sequence: 2048}}\n",
      tp * pp * dp, model, tp, pp, dp, zero, batch);
}

/// Asserts that `figure` never grows from one estimated row to the next.
template <class Figure>
void assert_never_grows(const SweepView& view, Figure figure) {
  const SweepRow* before = nullptr;
  for (const SweepRow& row : view.rows) {
    if (!row.estimated()) continue;
    if (before != nullptr) RC_ASSERT(figure(row) <= figure(*before));
    before = &row;
  }
}

RC_GTEST_PROP(SweepView, MoreMicrobatches_NeverGrowTheIdealBubble, ()) {
  assert_never_grows(sweep_of(random_plan_text(), "microbatches=1..32"),
                     [](const SweepRow& row) { return row.bubble; });
}

RC_GTEST_PROP(SweepView, HigherZeroStage_NeverGrowsTheStates, ()) {
  assert_never_grows(sweep_of(random_plan_text(), "zero=0..3"), [](const SweepRow& row) {
    return row.estimate.memory.states().value * (1 - 1e-12);
  });
}

RC_GTEST_PROP(SweepView, MoreTp_NeverGrowsTheParametersPerRank, ()) {
  // Without ZeRO-3, which divides the same parameters by DP, that tp takes away.
  const std::string text = random_plan_text();
  RC_PRE(text.find("zero_stage: 3") == std::string::npos);
  assert_never_grows(sweep_of(text, "tp=1..8"), [](const SweepRow& row) {
    return row.estimate.memory[cost::Entry::parameters];
  });
}

RC_GTEST_PROP(SweepView, OwnValue_IsAlwaysThePlanItself, ()) {
  const std::string text = random_plan_text();
  const rankwright::plan::TrainingConfig config = config_of(text);
  for (const SweepKey& key : list_sweep_keys()) {
    const SweepView view = sweep_of(text, type_sweep(key, key.read(config)));
    RC_ASSERT(view.rows.front().own);
    RC_ASSERT(view.rows.front().config.plan == config.plan);
  }
}

}  // namespace sweep_view_test
}  // namespace rankwright::planner
