// Cases with well-known answers, given as plan files. Tests check the layout, not its times.
#include <gtest/gtest.h>

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/search/why_not.h"

namespace rankwright::search {
namespace cases_test {

/// Reads a problem from the text of a plan file, on all devices of its cluster.
Problem read_problem(const std::string& text, Limits limits = {}) {
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(file.findings.empty()) << file.findings.front().detail;
  rankwright::plan::TrainingConfig config = resolve(file.draft);
  config.world = config.cluster.devices();
  config.plan.overlap = {};
  return make_problem(std::move(config), std::move(limits));
}

Range just(i64 degree) { return {degree, degree}; }

/// Returns whether groups of the kind stay inside one innermost domain: a node.
bool is_inside_node(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  return cost::find_span(config, kind).level <= 0;
}

/// 1.24B parameters at 18 bytes are 22 GB. They fit on every GPU, so only gradients must be sent;
/// ZeRO-1 sends as much and keeps less.
TEST(Cases, OneBillionParametersOnANode_DataParallelismAlone) {
  const Problem one = read_problem(
      "model: llama-3.2-1b\ncluster: dgx-a100\njob: {global_batch: 256, sequence: 2048}\n");
  const Answer found = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(found.best);
  const plan::Plan& plan = found.best->config.plan;
  EXPECT_EQ(plan.dp, 8);
  EXPECT_EQ(find_family(plan).axes(), 1);
  EXPECT_EQ(plan.zero, 1);
  EXPECT_EQ(plan.recompute, plan::Recompute::none);
  EXPECT_TRUE(found.complete);
}

/// 30B parameters at 16 bytes are 480 GB: 1/8 of them takes 60 of 80 GB.
Problem make_30b_problem(Limits limits = {}) {
  return read_problem(
      "model: gpt-30b\ncluster: dgx-a100\njob: {global_batch: 256, sequence: 2048}\n",
      std::move(limits));
}

TEST(Cases, ThirtyBillionParametersOnANode_TensorParallelism) {
  const Answer found = find_answer(make_30b_problem(), catalog::get_calibration());
  ASSERT_TRUE(found.best);
  const plan::Plan& plan = found.best->config.plan;
  EXPECT_GT(plan.tp, 1);
  EXPECT_TRUE(is_inside_node(found.best->config, mesh::GroupKind::tp));
  EXPECT_LE(find_family(plan).axes(), 2);
  EXPECT_EQ(plan.recompute, plan::Recompute::none);
}

/// tp alone spends time on its collectives, FSDP alone on recomputation. They tie with each other,
/// and both are slower than the answer by more than the tie band.
TEST(Cases, ThirtyBillionParametersOnANode_SlowerWithOneAxis) {
  const Answer found = find_answer(make_30b_problem(), catalog::get_calibration());
  const Answer cut = find_answer(make_30b_problem({.tp = just(8)}), catalog::get_calibration());
  const Answer sharded = find_answer(make_30b_problem({.dp = just(8)}), catalog::get_calibration());
  ASSERT_TRUE(found.best && cut.best && sharded.best);
  EXPECT_EQ(sharded.best->config.plan.zero, 3);
  EXPECT_EQ(sharded.best->config.plan.recompute, plan::Recompute::full);
  const Seconds fastest = found.fastest ? found.fastest->time() : found.best->time();
  EXPECT_GT(cut.best->time(), (1 + found.band) * fastest);
  EXPECT_GT(sharded.best->time(), (1 + found.band) * fastest);
  EXPECT_NEAR(cut.best->time() / sharded.best->time(), 1, found.band);
}

/// Without a pipeline: tp inside the node with ZeRO over the rest. A plan with ZeRO-3 is a rival.
TEST(Cases, ThirtyBillionParametersOnANodeWithoutPipeline_TpAndZero) {
  const Problem one = make_30b_problem({.cp = just(1), .pp = just(1)});
  const Answer found = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(found.best);
  EXPECT_GT(found.best->config.plan.tp, 1);
  EXPECT_GT(found.best->config.plan.zero, 0);
  EXPECT_TRUE(std::any_of(found.rivals.begin(), found.rivals.end(),
                          [](const EvaluatedPlan& rival) { return rival.config.plan.zero == 3; }));
}

/// 200B parameters on 64 GPUs with one NIC of 100 Gb/s per node: the collectives of layers stay
/// inside a node, and only the sends of the pipeline cross nodes.
TEST(Cases, TwoHundredBillionParametersOnSlowNodes_TpInsideAndPpAcross) {
  const Problem one = read_problem(
      "model: gpt-200b\ncluster: hgx-a100-100g x 8\njob: {global_batch: 1024, sequence: 2048}\n");
  const Answer found = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(found.best);
  const plan::Plan& plan = found.best->config.plan;
  EXPECT_GT(plan.tp, 1);
  EXPECT_LE(plan.tp, 8);
  EXPECT_TRUE(is_inside_node(found.best->config, mesh::GroupKind::tp));
  EXPECT_GE(plan.pp, 8);
  EXPECT_FALSE(is_inside_node(found.best->config, mesh::GroupKind::pp));
  EXPECT_EQ(plan.cp, 1);
  EXPECT_EQ(plan.tp * plan.pp * plan.dp, 64);
}

TEST(Cases, TwoHundredBillionParametersWithTpAcrossNodes_ManyTimesSlower) {
  const Problem one = read_problem(
      "model: gpt-200b\ncluster: hgx-a100-100g x 8\njob: {global_batch: 1024, sequence: 2048}\n");
  const Answer found = find_answer(one, catalog::get_calibration());
  const std::vector<Neighbor> others = find_neighbors(one, found, catalog::get_calibration());
  const auto order = std::find_if(others.begin(), others.end(), [](const Neighbor& other) {
    return other.kind == Neighbor::Kind::order;
  });
  ASSERT_NE(order, others.end());
  EXPECT_FALSE(is_inside_node(order->config, mesh::GroupKind::tp));
  EXPECT_GT(order->time, 5 * found.best->time());
}

/// 13B parameters at 16 bytes are 208 GB: more than a GPU has, and only states may be sharded.
TEST(Cases, ThirteenBillionParametersWithoutTpAndPp_ShardedStates) {
  const Problem one = read_problem(
      "model: gpt-13b\ncluster: hgx-a100-100g x 2\njob: {global_batch: 256, sequence: 2048}\n",
      {.tp = just(1), .pp = just(1)});
  const Answer found = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(found.best);
  const plan::Plan& plan = found.best->config.plan;
  EXPECT_EQ(plan.tp * plan.pp * plan.cp, 1);
  EXPECT_EQ(plan.dp, 16);
  EXPECT_GE(plan.zero, 1);
  plan::Plan replicas = plan;
  choose(replicas, 0, 0, one);
  EXPECT_FALSE(evaluate_plan(one, replicas, catalog::get_calibration()).estimate.fits());
}

/// Racks of 64 GPUs behind a spine with 1/4 of their NICs' bandwidth: the fastest plan keeps its
/// pipeline inside a rack, and crosses racks with data parallelism.
TEST(Cases, RacksBehindASlowSpine_PipelineInsideARack) {
  const Problem one = read_problem(
      "model: llama-3.1-405b\njob: {global_batch: 1024, sequence: 8192}\ncluster:\n"
      "  device: gb200\n  levels:\n"
      "    - {name: nvlink, arity: 64, bandwidth: 900 GB/s, latency: 2 us}\n"
      "    - {name: spine, arity: 8, bandwidth: 50 GB/s, latency: 5 us, oversubscription: 4}\n",
      {.cp = just(1)});
  const Answer found = find_answer(one, catalog::get_calibration());
  const EvaluatedPlan* other = found.reordered();
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(is_inside_node(other->config, mesh::GroupKind::pp));
  EXPECT_FALSE(is_inside_node(other->config, mesh::GroupKind::dp));
  ASSERT_TRUE(found.usual);
  EXPECT_GT(found.usual->time(), other->time());
}

}  // namespace cases_test
}  // namespace rankwright::search
