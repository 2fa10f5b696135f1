// Worked examples of DualPipe's traffic: four pp ranks and 8 microbatches. Ranks 0 and 3 hold
// stages 0 and 3, ranks 1 and 2 stages 1 and 2; each stage has two layers, and each rank runs 4
// microbatches through it.
#include <gtest/gtest.h>

#include "rankwright/plan/traffic.h"
#include "tests/support/sample.h"

namespace rankwright::plan {
namespace traffic_mirror_test {

using K = TrafficKind;

constexpr double kHidden = 2048.0 * 1024 * 2;  // per microbatch: tokens x width x 2 bytes
constexpr double kLayer = 15'206'400;          // parameters
constexpr double kVocabulary = 32'768'000;

TrainingConfig mirror_setup(Plan plan) {
  plan.pp = 4;
  plan.schedule = pipeline::Schedule::dualpipe;
  return sample::dense_config(plan, 8);
}

/// Returns the row of a kind; if there is none, a row without calls.
Traffic find(const TrainingConfig& config, i64 pp_rank, K kind) {
  for (const Traffic& t : list_traffic(config, pp_rank))
    if (t.kind == kind) return t;
  return {.kind = kind, .op = {}, .group = {}};
}

void expect(const Traffic& t, i64 calls, double each, Op op) {
  EXPECT_EQ(t.calls, calls) << row(t.kind).label;
  EXPECT_DOUBLE_EQ(t.total.value, double(calls) * each) << row(t.kind).label;
  EXPECT_EQ(t.op, op) << row(t.kind).label;
}

TEST(MirrorTraffic, EachStage_SendsHalfTheMicrobatches) {
  const TrainingConfig config = mirror_setup({});
  for (const i64 r : {0, 3}) {
    expect(find(config, r, K::pp_forward), 4, kHidden, Op::send_recv);   // of stage 0
    expect(find(config, r, K::pp_backward), 4, kHidden, Op::send_recv);  // of stage 3
  }
  for (const i64 r : {1, 2}) {  // of stages 1 and 2
    expect(find(config, r, K::pp_forward), 8, kHidden, Op::send_recv);
    expect(find(config, r, K::pp_backward), 8, kHidden, Op::send_recv);
  }
}

TEST(MirrorTraffic, Tp_RunsHalfTheMicrobatchesPerStage) {
  const TrainingConfig config = mirror_setup({.tp = 2});
  // 2 stages of 2 layers x 4 all-reduces x 4 microbatches
  for (const i64 r : {0, 1, 2, 3})
    expect(find(config, r, K::tp_all_reduce), 2 * 2 * 4 * 4, kHidden, Op::all_reduce);
  for (const i64 r : {0, 3}) {  // both ends have the embedding and the head
    EXPECT_EQ(find(config, r, K::tp_embedding).calls, 4);
    EXPECT_EQ(find(config, r, K::tp_cross_entropy).calls, 3 * 4);
  }
  EXPECT_EQ(find(config, 1, K::tp_embedding).calls, 0);
}

TEST(MirrorTraffic, BothRanks_RecomputeTheSameLayers) {
  // the first layer of stage 0 and of stage 3, of two each: (4 x 4 + 2 x 2) x 4 microbatches
  const TrainingConfig config =
      mirror_setup({.tp = 2, .recompute = Recompute::full, .recompute_layers = 1});
  for (const i64 r : {0, 3})
    expect(find(config, r, K::tp_all_reduce), 20 * 4, kHidden, Op::all_reduce);
}

TEST(MirrorTraffic, TiedEmbedding_IsReducedWithAllElseInAPair) {
  TrainingConfig config = mirror_setup({});
  config.model.tied = true;
  EXPECT_EQ(find(config, 0, K::tied_embedding_grad).calls, 0);  // 0 and 3 are the only holders
  config.model.mtp_layers = 1;
  config.plan.stages = *parse_layout("Et*4|t*4|m|L");  // MTP on ranks 1 and 2, with a copy
  EXPECT_EQ(find(config, 0, K::tied_embedding_grad).calls, 1);
  EXPECT_EQ(find(config, 2, K::tied_embedding_grad).calls, 1);
}

TEST(MirrorGradients, CoverAllThatARankHolds) {
  // four layers, 60,825,600 parameters: 2 buckets of 40 million
  const Traffic inner = find(mirror_setup({.dp = 4}), 1, K::mirror_grad);
  EXPECT_EQ(inner.group, mesh::GroupKind::mirror);
  expect(inner, 2, 2 * 4 * kLayer / 2, Op::all_reduce);
  // and twice the vocabulary and a norm, 126,362,624 in all: 4 buckets
  expect(find(mirror_setup({}), 0, K::mirror_grad), 4,
         2 * (4 * kLayer + 2 * kVocabulary + 1024) / 4, Op::all_reduce);
}

TEST(MirrorGradients, OtherSchedules_HaveNone) {
  const Plan vee{.pp = 4, .virtual_stages = 2, .schedule = pipeline::Schedule::zb_v};
  EXPECT_EQ(find(sample::dense_config(vee), 0, K::mirror_grad).calls, 0);
  const TrainingConfig one = sample::dense_config({.schedule = pipeline::Schedule::dualpipe});
  EXPECT_EQ(find(one, 0, K::mirror_grad).calls, 0);
}

TEST(MirrorGradients, Zero_ReducesOnlyAShard) {
  for (const int zero : {1, 2, 3})
    expect(find(mirror_setup({.dp = 4, .zero = zero}), 1, K::mirror_grad), 2,
           2 * 4 * kLayer / 4 / 2, Op::all_reduce);
}

TEST(MirrorGradients, Experts_HaveBucketsOfTheirOwn) {
  // 4 sparse layers per rank. Dense parameters of each: attention 2,621,440, shared expert 3 x 1024
  // x 1024, router 8192 and norms 2048; expert parameters of each, over ep 4: 2 x 3 x 1024 x 512.
  TrainingConfig config = mirror_setup({.dp = 8, .ep = 4, .zero = 1});
  config.model = sample::model_of({{8, sample::sparse_layer()}});
  const double dense = 4 * (2'621'440.0 + 3'145'728 + 8192 + 2048);
  const double experts = 4 * 2 * 3 * 1024.0 * 512;
  const Traffic t = find(config, 1, K::mirror_grad);
  EXPECT_EQ(t.calls, 2 * (1 + 1));  // per stage, with 12 million and 6 million
  EXPECT_DOUBLE_EQ(t.total.value, 2 * (dense / 8 + experts / 2));  // over dp 8; over dp 8 / ep 4
}

TEST(MirrorTraffic, Zero2And3_ReduceTheStagesOfEachMicrobatch) {
  // two stages of two layers: 30,412,800 parameters, one bucket each; 4 microbatches each
  const TrainingConfig two = mirror_setup({.dp = 4, .zero = 2});
  expect(find(two, 1, K::dp_reduce_scatter), 2 * 4, 2 * 2 * kLayer, Op::reduce_scatter);
  // ZeRO-3: 4 units, gathered twice in 4 microbatches each
  const TrainingConfig three = mirror_setup({.dp = 4, .zero = 3});
  expect(find(three, 1, K::dp_all_gather), 2 * 4 * 4, 2 * kLayer, Op::all_gather);
  expect(find(three, 1, K::dp_reduce_scatter), 4 * 4, 2 * kLayer, Op::reduce_scatter);
}

}  // namespace traffic_mirror_test
}  // namespace rankwright::plan
