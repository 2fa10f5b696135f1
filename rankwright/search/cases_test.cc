// Cases whose answer people know, asked as people ask them: the shape of the answer, not its
// figures.
#include <gtest/gtest.h>

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/search/why_not.h"

namespace rankwright::search {
namespace cases_test {

/// All devices of the cluster that the file names.
Problem asked(const std::string& text, Limits limits = {}) {
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(file.findings.empty()) << file.findings.front().detail;
  rankwright::plan::TrainingConfig config = resolve(file.draft);
  config.world = config.cluster.devices();
  config.plan.overlap = {};
  return make_problem(std::move(config), std::move(limits));
}

Range just(i64 degree) { return {degree, degree}; }

/// Groups of the kind stay inside one innermost domain: a node.
bool inside_a_node(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  return cost::find_span(config, kind).level <= 0;
}

/// 1.24B parameters of 16 bytes are 20 GB: they fit on every GPU, and nothing but gradients must be
/// sent.
TEST(Cases, OneBillionOnANodeIsDataParallelAlone) {
  const Problem one =
      asked("model: llama-3.2-1b\ncluster: dgx-a100\njob: {global_batch: 256, sequence: 2048}\n");
  const Answer told = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(told.best);
  const plan::Plan& plan = told.best->config.plan;
  EXPECT_EQ(plan.dp, 8);
  EXPECT_EQ(find_family(plan).axes(), 1);
  EXPECT_EQ(plan.zero, 0);
  EXPECT_EQ(plan.recompute, plan::Recompute::none);
  EXPECT_TRUE(told.complete);
}

/// 30B parameters of 16 bytes are 480 GB: an eighth of them is 60 of 80 GB.
Problem thirty_billion(Limits limits = {}) {
  return asked("model: gpt-30b\ncluster: dgx-a100\njob: {global_batch: 256, sequence: 2048}\n",
               std::move(limits));
}

TEST(Cases, ThirtyBillionOnANodeCutsItsLayers) {
  const Answer told = find_answer(thirty_billion(), catalog::get_calibration());
  ASSERT_TRUE(told.best);
  const plan::Plan& plan = told.best->config.plan;
  EXPECT_GT(plan.tp, 1);
  EXPECT_TRUE(inside_a_node(told.best->config, mesh::GroupKind::tp));
  EXPECT_LE(find_family(plan).axes(), 2);
  EXPECT_EQ(plan.recompute, plan::Recompute::none);
}

/// tp alone pays for its collectives, FSDP alone for running forward twice: by the model they take
/// the same time, and both take longer than the answer, by more than the band of a tie.
TEST(Cases, ThirtyBillionOnANodeIsSlowerWithOneAxis) {
  const Answer told = find_answer(thirty_billion(), catalog::get_calibration());
  const Answer cut = find_answer(thirty_billion({.tp = just(8)}), catalog::get_calibration());
  const Answer sharded = find_answer(thirty_billion({.dp = just(8)}), catalog::get_calibration());
  ASSERT_TRUE(told.best && cut.best && sharded.best);
  EXPECT_EQ(sharded.best->config.plan.zero, 3);
  EXPECT_EQ(sharded.best->config.plan.recompute, plan::Recompute::full);
  const Seconds fastest = told.fastest ? told.fastest->time() : told.best->time();
  EXPECT_GT(cut.best->time(), (1 + told.band) * fastest);
  EXPECT_GT(sharded.best->time(), (1 + told.band) * fastest);
  EXPECT_NEAR(cut.best->time() / sharded.best->time(), 1, told.band);
}

/// Without a pipeline: tp inside the node with ZeRO over the rest, and the other way to weigh the
/// two is among its rivals.
TEST(Cases, ThirtyBillionOnANodeWithoutPipelineIsTpAndZero) {
  const Problem one = thirty_billion({.cp = just(1), .pp = just(1)});
  const Answer told = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(told.best);
  EXPECT_GT(told.best->config.plan.tp, 1);
  EXPECT_GT(told.best->config.plan.zero, 0);
  EXPECT_TRUE(std::any_of(told.rivals.begin(), told.rivals.end(),
                          [](const EvaluatedPlan& rival) { return rival.config.plan.zero == 3; }));
}

/// 200B on 64 GPUs whose nodes share one NIC of 100 Gb/s each: what talks in every layer stays
/// inside, and between nodes goes what one stage hands to the next.
TEST(Cases, TwoHundredBillionOnSlowNodesIsTpInsideAndPpAcross) {
  const Problem one = asked(
      "model: gpt-200b\ncluster: hgx-a100-100g x 8\njob: {global_batch: 1024, sequence: 2048}\n");
  const Answer told = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(told.best);
  const plan::Plan& plan = told.best->config.plan;
  EXPECT_GT(plan.tp, 1);
  EXPECT_LE(plan.tp, 8);
  EXPECT_TRUE(inside_a_node(told.best->config, mesh::GroupKind::tp));
  EXPECT_GE(plan.pp, 8);
  EXPECT_FALSE(inside_a_node(told.best->config, mesh::GroupKind::pp));
  EXPECT_EQ(plan.cp, 1);
  EXPECT_EQ(plan.tp * plan.pp * plan.dp, 64);
}

TEST(Cases, TwoHundredBillionPutAcrossNodesByTpIsManyTimesSlower) {
  const Problem one = asked(
      "model: gpt-200b\ncluster: hgx-a100-100g x 8\njob: {global_batch: 1024, sequence: 2048}\n");
  const Answer told = find_answer(one, catalog::get_calibration());
  const std::vector<Neighbor> others = find_neighbors(one, told, catalog::get_calibration());
  const auto order = std::find_if(others.begin(), others.end(), [](const Neighbor& other) {
    return other.kind == Neighbor::Kind::order;
  });
  ASSERT_NE(order, others.end());
  EXPECT_FALSE(inside_a_node(order->config, mesh::GroupKind::tp));
  EXPECT_GT(order->time, 5 * told.best->time());
}

/// 13B parameters of 16 bytes are 208 GB: more than a GPU has, and nothing may be cut but states.
TEST(Cases, ThirteenBillionWithoutTpAndPpShardsItsStates) {
  const Problem one = asked(
      "model: gpt-13b\ncluster: hgx-a100-100g x 2\njob: {global_batch: 256, sequence: 2048}\n",
      {.tp = just(1), .pp = just(1)});
  const Answer told = find_answer(one, catalog::get_calibration());
  ASSERT_TRUE(told.best);
  const plan::Plan& plan = told.best->config.plan;
  EXPECT_EQ(plan.tp * plan.pp * plan.cp, 1);
  EXPECT_EQ(plan.dp, 16);
  EXPECT_GE(plan.zero, 1);
  plan::Plan replicas = plan;
  choose(replicas, 0, 0, one);
  EXPECT_FALSE(evaluate_plan(one, replicas, catalog::get_calibration()).estimate.fits());
}

/// Racks of 64 behind a spine that has a quarter of their NICs' bandwidth: the fastest plan keeps
/// its pipeline inside a rack, and crosses with data parallelism.
TEST(Cases, RacksBehindASlowSpineWantAnotherOrder) {
  const Problem one = asked(
      "model: llama-3.1-405b\njob: {global_batch: 1024, sequence: 8192}\ncluster:\n"
      "  device: gb200\n  levels:\n"
      "    - {name: nvlink, arity: 64, bandwidth: 900 GB/s, latency: 2 us}\n"
      "    - {name: spine, arity: 8, bandwidth: 50 GB/s, latency: 5 us, oversubscription: 4}\n",
      {.cp = just(1)});
  const Answer told = find_answer(one, catalog::get_calibration());
  const EvaluatedPlan* other = told.reordered();
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(inside_a_node(other->config, mesh::GroupKind::pp));
  EXPECT_FALSE(inside_a_node(other->config, mesh::GroupKind::dp));
  ASSERT_TRUE(told.usual);
  EXPECT_GT(told.usual->time(), other->time());
}

}  // namespace cases_test
}  // namespace rankwright::search
