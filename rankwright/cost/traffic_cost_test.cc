#include "rankwright/cost/traffic_cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"
#include "rankwright/cost/step.h"
#include "tests/support/timed_configs.h"

namespace rankwright::cost {
namespace priced_test {

using K = plan::TrafficKind;

/// tp 8 inside a node, dp 2 and pp 4 across eight of them.
plan::TrainingConfig course() {
  plan::TrainingConfig config = sample::dense_config({.tp = 8, .dp = 2, .pp = 4});
  config.model.tied = true;
  config.cluster = *catalog::find_cluster("dgx-h100 x 8");
  return config;
}

TrafficCost find(const plan::TrainingConfig& config, K kind) {
  for (const TrafficCost& row : estimate_traffic(config, 0))
    if (row.traffic.kind == kind) return row;
  return {.traffic = {}, .span = {}};
}

TEST(WireBytes, EightRanksMatchTheWorkedExample) {
  // all-reduce 2 x 7/8; all-gather, reduce-scatter and all-to-all 7/8; a send all of it
  EXPECT_EQ(count_wire_bytes(plan::Op::all_reduce, 8.0_GB, 8), 14.0_GB);
  EXPECT_EQ(count_wire_bytes(plan::Op::all_gather, 8.0_GB, 8), 7.0_GB);
  EXPECT_EQ(count_wire_bytes(plan::Op::reduce_scatter, 8.0_GB, 8), 7.0_GB);
  EXPECT_EQ(count_wire_bytes(plan::Op::all_to_all, 8.0_GB, 8), 7.0_GB);
  EXPECT_EQ(count_wire_bytes(plan::Op::send_recv, 8.0_GB, 8), 8.0_GB);
}

TEST(WireBytes, OneRankSendsNothing) {
  EXPECT_EQ(count_wire_bytes(plan::Op::all_reduce, 1.0_GB, 1), 0.0_B);
}

TEST(EvaluatedPlan, FindsTheLevelOfEveryGroup) {
  EXPECT_EQ(find(course(), K::tp_all_reduce).level, 0);
  EXPECT_EQ(find(course(), K::dp_all_reduce).level, 1);
  EXPECT_EQ(find(course(), K::pp_forward).level, 1);
  EXPECT_EQ(find(course(), K::dp_all_reduce).slowest, 1);
}

TEST(EvaluatedPlan, CountsTheGroupsOnALink) {
  rankwright::plan::TrainingConfig config = course();
  EXPECT_EQ(find(config, K::dp_all_reduce).sharers, 1);  // 8 groups on 8 NICs
  config.cluster.levels[1].per = cluster::Level::Per::domain;
  EXPECT_EQ(find(config, K::dp_all_reduce).sharers, 8);  // 8 groups on one
  EXPECT_EQ(find(config, K::tp_all_reduce).sharers, 1);
}

TEST(EvaluatedPlan, AddsUpCalls) {
  const rankwright::plan::TrainingConfig config = course();
  const TrafficCost row = find(config, K::tp_all_reduce);
  // 2 layers per rank x 4 all-reduces x 4 microbatches of 2048 x 1024 bf16 elements
  const Bytes each = bytes(2048 * 1024, 2);
  EXPECT_DOUBLE_EQ(row.total.value,
                   32 * Links(config, catalog::get_calibration())
                            .time(K::tp_all_reduce, plan::Op::all_reduce, each, mesh::GroupKind::tp)
                            .value);
  EXPECT_DOUBLE_EQ(row.wire.value, 32 * 2 * 7.0 / 8 * each.value);
  EXPECT_EQ(row.innermost, row.total);  // already inside
}

TEST(EvaluatedPlan, EstimatesTheInnermostPlacement) {
  const TrafficCost row = find(course(), K::dp_all_reduce);
  EXPECT_LT(row.innermost, row.total);
}

TEST(EvaluatedPlan, EdgesAreGroupsOfTwo) {
  const TrafficCost row = find(course(), K::tied_embedding_grad);
  // two members of a pp group of 4 communicate: 2 x 1/2 of 32,000 / 8 rows of 1024, 2 bytes each
  EXPECT_EQ(row.span.size, 2);
  EXPECT_EQ(row.level, 1);
  EXPECT_DOUBLE_EQ(row.wire.value, 4000.0 * 1024 * 2);
}

TEST(EvaluatedPlan, EdgesOfAPipelineInsideANodeStayInside) {
  rankwright::plan::TrainingConfig config = course();
  config.plan = {.dp = 8, .pp = 8, .order = *mesh::parse_order("pp-dp")};
  EXPECT_EQ(find(config, K::tied_embedding_grad).level, 0);
}

TEST(EvaluatedPlan, MirrorsAreGroupsOfTwo) {
  // pp 4 across the nodes: 8 pairs on 8 NICs; an all-reduce of two sends half of the data twice
  rankwright::plan::TrainingConfig config = course();
  config.plan.schedule = pipeline::Schedule::dualpipe;
  config.job.global_batch = 16;
  const TrafficCost row = find(config, K::mirror_grad);
  EXPECT_EQ(row.span.size, 2);
  EXPECT_EQ(row.level, 1);
  EXPECT_EQ(row.sharers, 1);
  EXPECT_DOUBLE_EQ(row.wire.value, row.traffic.total.value);
}

TEST(EvaluatedPlan, CountsMirrorPairsPerLink) {
  // A pipeline of 16 on two nodes of 8 with one link per node: 8 pairs cross it. A pipeline of 12
  // has 8 members on the first node, and 4 of their mirrors are outside.
  const auto pairs = [](i64 pp) {
    rankwright::plan::TrainingConfig config =
        sample::dense_config({.pp = pp, .schedule = pipeline::Schedule::dualpipe}, 32);
    config.cluster = *catalog::find_cluster("dgx-h100 x 2");
    config.cluster.levels[1].per = cluster::Level::Per::domain;
    return count_groups_on_link(config.cluster, find_span(config, mesh::GroupKind::mirror), 1);
  };
  EXPECT_EQ(pairs(16), 8);
  EXPECT_EQ(pairs(12), 4);
}

TEST(EvaluatedPlan, MirrorsOfAPipelineInsideANodeStayInside) {
  rankwright::plan::TrainingConfig config = course();
  config.plan = {.dp = 8,
                 .pp = 8,
                 .order = *mesh::parse_order("pp-dp"),
                 .schedule = pipeline::Schedule::dualpipe};
  EXPECT_EQ(find(config, K::mirror_grad).level, 0);
}

/// Makes a config with two layers of DeepSeek-V3's attention: 128 heads, keys of 128 + 64 and
/// values of 128, compressed to 1,536 for queries and 512 for keys and values.
plan::TrainingConfig latent_config(plan::Plan plan) {
  const model::Layer layer{.attention = {.kind = model::Attention::Kind::latent,
                                         .heads = 128,
                                         .q_rank = 1536,
                                         .kv_rank = 512,
                                         .nope_dim = 128,
                                         .rope_dim = 64,
                                         .value_dim = 128},
                           .ffn = {.width = 2048}};
  return sample::timed(
      sample::config_of({.hidden = 7168, .vocab = 32000, .runs = {{2, layer}}}, std::move(plan)));
}

Seconds time_of(const plan::TrainingConfig& config, K kind, plan::Op op, Bytes size) {
  const bool ring = kind == K::cp_ring;
  return Links(config, catalog::get_calibration())
      .time(kind, op, size, ring ? mesh::GroupKind::cp : mesh::GroupKind::tp);
}

TEST(LatentAttention, RingSendsUpProjectedKeysAndValuesInStepAndTableAlike) {
  // 128 x (128 + 64 + 128) = 40,960 elements of 2 bytes for each of 2,048 / 4 tokens, not the 576
  // compressed ones. 3 hops forward and 6 backward, in 2 layers and 4 microbatches: 72 sends.
  const plan::TrainingConfig config = latent_config({.cp = 4});
  const Bytes each{40960.0 * 2 * 512};
  const TrafficCost row = find(config, K::cp_ring);
  EXPECT_EQ(row.traffic.calls, 72);
  EXPECT_EQ(row.traffic.bytes(), each);
  const Seconds all = 72 * time_of(config, K::cp_ring, plan::Op::send_recv, each);
  EXPECT_NEAR(row.total / all, 1, 1e-12);
  const StepTime step = estimate_step_time(config, catalog::get_calibration());
  EXPECT_NEAR(step.comm(Item::cp).total() / all, 1, 1e-12);
}

TEST(LatentAttention, SequenceParallelismGathersCompressedWidthsInStepAndTableAlike) {
  // Attention gathers 1,536 + 512 + 64 instead of 7,168 elements per token in forward; in backward
  // the output gradient of 7,168 and, for the weight gradients, 1,536 + 512 again. The feed-forward
  // gathers 7,168 three times. Reduce-scatters: 7,168 after each block in forward, 1,536 + 512 + 64
  // and 7,168 in backward. 2 layers, 4 microbatches of 2,048 tokens, 2 bytes.
  const plan::TrainingConfig config = latent_config({.tp = 4, .sequence_parallel = true});
  const double times = 2 * 4;
  const auto bytes_of = [](double width) { return Bytes{width * 2048 * 2}; };
  const auto sum = [&](K kind, plan::Op op, const std::vector<double>& widths) {
    const TrafficCost row = find(config, kind);
    Seconds expected{};
    Bytes total{};
    for (const double width : widths) {
      expected += times * time_of(config, kind, op, bytes_of(width));
      total += times * bytes_of(width);
    }
    EXPECT_EQ(row.traffic.calls, i64(times) * i64(widths.size()));
    EXPECT_EQ(row.traffic.total, total);
    EXPECT_NEAR(row.total / expected, 1, 1e-12);
    return expected;
  };
  const Seconds blocks =
      sum(K::tp_all_gather, plan::Op::all_gather,
          {1536, 512, 64, 7168, 1536, 512, 7168, 7168, 7168}) +
      sum(K::tp_reduce_scatter, plan::Op::reduce_scatter, {7168, 1536, 512, 64, 7168, 7168});
  // The embedding, the head and the loss are also part of the item.
  Seconds edges{};
  for (const K kind : {K::tp_embedding, K::tp_embedding_grad, K::tp_head_gather, K::tp_head_reduce,
                       K::tp_cross_entropy})
    edges += find(config, kind).total;
  const StepTime step = estimate_step_time(config, catalog::get_calibration());
  EXPECT_NEAR(step.comm(Item::tp).total() / (blocks + edges), 1, 1e-12);
}

RC_GTEST_PROP(EvaluatedPlan, CoversAllTrafficWithoutNegativeTimes, ()) {
  const plan::TrainingConfig config = sample::random_config();
  const i64 pp_rank = *rc::gen::inRange<i64>(0, config.plan.pp);
  const std::vector<plan::Traffic> rows = list_traffic(config, pp_rank);
  const std::vector<TrafficCost> all = estimate_traffic(config, pp_rank);
  RC_ASSERT(all.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(all[i].traffic == rows[i]);
    RC_ASSERT(all[i].level == 0 && all[i].slowest == 0 && all[i].sharers == 1);  // one switch
    RC_ASSERT(all[i].wire.value > 0 && all[i].wire <= 2 * rows[i].total);
  }
}

}  // namespace priced_test
}  // namespace rankwright::cost
