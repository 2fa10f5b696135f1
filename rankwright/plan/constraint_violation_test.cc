// Tests each kind of violation with a plan that has it and a similar one that does not, and all
// kinds at once against the same constraints stated by counting.
#include "rankwright/plan/constraint_violation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "rankwright/model/parameters.h"
#include "tests/support/enumeration.h"

namespace rankwright::plan {
namespace constraint_violation_test {

using Why = ConstraintViolation::Why;

/// 12 layers, 8 heads, 4 key-value heads, a feed-forward of 48; with experts: 6 of width 20.
model::Model small_model(bool sparse) {
  const model::FeedForward dense{.width = 48};
  const model::FeedForward experts{.experts = 6, .active = 2, .expert_width = 20};
  return {.name = "small",
          .hidden = 64,
          .vocab = 1000,
          .runs = {{.count = 12,
                    .layer = {.attention = {.heads = 8, .kv_heads = 4, .head_dim = 8},
                              .ffn = sparse ? experts : dense}}}};
}

cluster::Cluster cluster_of(i64 devices) {
  return {.name = "c", .levels = {{.name = "link", .arity = devices}}, .host_devices = devices};
}

TrainingConfig config_of(Plan plan, bool sparse = false) {
  TrainingConfig s{
      .model = small_model(sparse), .cluster = cluster_of(4096), .job = {}, .plan = plan};
  s.world = plan.ranks();
  s.job = {.global_batch = 48 * plan.dp * plan.micro_batch, .sequence = 1024};
  return s;
}

bool has(const TrainingConfig& s, Why why) {
  const std::vector<ConstraintViolation> all = find_violations(s);
  return std::any_of(all.begin(), all.end(),
                     [&](const ConstraintViolation& m) { return m.why == why; });
}

ConstraintViolation only(const TrainingConfig& s) {
  const std::vector<ConstraintViolation> all = find_violations(s);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(find_first_violation(s), all.empty() ? ConstraintViolation{} : all.front());
  return all.empty() ? ConstraintViolation{} : all.front();
}

TEST(ConstraintViolations, ValidPlan_HasNone) {
  EXPECT_TRUE(find_violations(config_of({})).empty());
  EXPECT_TRUE(find_violations(config_of({.tp = 4, .cp = 2, .dp = 3, .pp = 4, .etp = 4})).empty());
  EXPECT_FALSE(find_first_violation(config_of({.tp = 2, .dp = 3, .ep = 6}, true)));
}

TEST(ConstraintViolations, DegreesMustMultiplyToTheWorldSize) {
  TrainingConfig s = config_of({.tp = 2, .dp = 3, .pp = 2, .etp = 2});
  s.world = 13;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::degrees, 12, 13}));
  // A product that exceeds 64 bits has no value.
  s = config_of({});
  s.plan = {.tp = kMaxCount, .dp = kMaxCount, .etp = kMaxCount};
  EXPECT_EQ(find_first_violation(s), (ConstraintViolation{Why::degrees, -1, 1}));
}

TEST(ConstraintViolations, EveryRankNeedsADevice) {
  TrainingConfig s = config_of({.dp = 8});
  s.cluster = cluster_of(8);
  EXPECT_TRUE(find_violations(s).empty());
  s.cluster = cluster_of(7);
  EXPECT_EQ(only(s), (ConstraintViolation{Why::devices, 8, 7}));
}

TEST(ConstraintViolations, ExpertDegreesMustDivideTheWorldSize) {
  // etp 1 x ep 3 x pp 2 = 6 divides 12 ranks and not 8.
  EXPECT_TRUE(find_violations(config_of({.tp = 2, .dp = 3, .pp = 2, .ep = 3}, true)).empty());
  EXPECT_EQ(only(config_of({.tp = 2, .dp = 2, .pp = 2, .ep = 3}, true)),
            (ConstraintViolation{Why::expert_ranks, 6, 8}));
}

TEST(ConstraintViolations, WrongDegrees_AreNotReportedAgainForExperts) {
  // tp 8 does not divide 12 ranks. The expert mesh is the same, so its violation is not reported
  // again.
  TrainingConfig s = config_of({.tp = 8, .etp = 8});
  s.world = 12;
  EXPECT_EQ(only(s).why, Why::degrees);
}

TEST(ConstraintViolations, DenseAndExpertPipelinesMustBeEqual) {
  const mesh::Order pp_inside{mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep, mesh::Axis::pp,
                              mesh::Axis::dp};
  // Neighbors in the dense pipelines are tp = 2 ranks apart, in the experts' etp x ep = 1 x 3.
  Plan plan{.tp = 2, .dp = 6, .pp = 2, .ep = 3, .order = pp_inside};
  EXPECT_EQ(only(config_of(plan, true)), (ConstraintViolation{Why::pipelines_differ, 3, 2}));
  plan.ep = 2;
  EXPECT_TRUE(find_violations(config_of(plan, true)).empty());
  plan.ep = 3;
  plan.order = mesh::kDefaultOrder;
  EXPECT_TRUE(find_violations(config_of(plan, true)).empty());
}

TEST(ConstraintViolations, DenseModel_HasNoExpertPipeline) {
  const mesh::Order pp_inside{mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep, mesh::Axis::pp,
                              mesh::Axis::dp};
  const Plan plan{.tp = 2, .cp = 2, .dp = 2, .pp = 2, .etp = 2, .order = pp_inside};
  EXPECT_TRUE(find_violations(config_of(plan, false)).empty());
  // With experts, neighbors are tp x cp = 4 and etp = 2 ranks apart.
  TrainingConfig sparse = config_of(plan, true);
  EXPECT_EQ(only(sparse), (ConstraintViolation{Why::pipelines_differ, 2, 4}));
}

TEST(ConstraintViolations, ListedDevicesMustBeOnePerRank) {
  TrainingConfig s = config_of({.dp = 3});
  s.cluster = cluster_of(5);
  s.plan.placement = {.kind = mesh::Placement::Kind::listed, .devices = {2, 0, 1}};
  EXPECT_TRUE(find_violations(s).empty());
  s.plan.placement.devices = {2, 0, 4};  // devices 1 and 3 are unused
  EXPECT_TRUE(find_violations(s).empty());
  s.plan.placement.devices = {2, 0, 2};
  EXPECT_EQ(only(s), (ConstraintViolation{Why::placement, 2, 5}));
  s.plan.placement.devices = {2, 0, 5};
  EXPECT_EQ(only(s), (ConstraintViolation{Why::placement, 5, 5}));
  s.plan.placement.devices = {2, 0, -1};
  EXPECT_EQ(only(s), (ConstraintViolation{Why::placement, -1, 5}));
  s.plan.placement.devices = {0, 1};
  EXPECT_EQ(only(s), (ConstraintViolation{Why::placement, 2, 3}));
}

TEST(ConstraintViolations, TpMustDivideHeadsAndWidths) {
  EXPECT_TRUE(find_violations(config_of({.tp = 8, .etp = 8})).empty());
  EXPECT_EQ(find_first_violation(config_of({.tp = 16, .etp = 16})),
            (ConstraintViolation{Why::heads, 16, 8}));
  TrainingConfig s = config_of({.tp = 8, .etp = 8});
  s.model.runs[0].layer.ffn.width = 44;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::ffn, 8, 44}));
}

TEST(ConstraintViolations, TpOrKeyValueHeadsMustDivideTheOther) {
  TrainingConfig s = config_of({.tp = 6, .etp = 6});
  s.model.runs[0].layer.attention.heads = 12;
  s.model.runs[0].layer.attention.kv_heads = 4;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::kv_heads, 6, 4}));
  s.model.runs[0].layer.attention.kv_heads = 3;  // each head on two ranks
  EXPECT_TRUE(find_violations(s).empty());
  s.model.runs[0].layer.attention.kv_heads = 12;  // two heads per rank
  EXPECT_TRUE(find_violations(s).empty());
  s.model.runs[0].layer.attention.kv_heads = 0;
  s.model.runs[0].layer.attention.kind = model::Attention::Kind::latent;
  EXPECT_TRUE(find_violations(s).empty());
}

TEST(ConstraintViolations, TpMustDivideSharedExpertsAndEtpRoutedOnes) {
  TrainingConfig s = config_of({.tp = 4, .etp = 4}, true);
  EXPECT_TRUE(find_violations(s).empty());  // 20 / 4
  s.model.runs[0].layer.ffn.shared_width = 30;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::ffn, 4, 30}));
  s = config_of({.tp = 8, .etp = 8}, true);
  EXPECT_EQ(only(s), (ConstraintViolation{Why::expert_ffn, 8, 20}));
}

TEST(ConstraintViolations, EpMustDivideExperts) {
  EXPECT_TRUE(find_violations(config_of({.dp = 12, .ep = 6}, true)).empty());
  EXPECT_EQ(only(config_of({.dp = 12, .ep = 4}, true)), (ConstraintViolation{Why::experts, 4, 6}));
  EXPECT_EQ(only(config_of({.dp = 12, .ep = 6}, false)),
            (ConstraintViolation{Why::no_experts, 6, 0}));
}

TEST(ConstraintViolations, EveryStageNeedsALayer) {
  EXPECT_TRUE(find_violations(config_of({.pp = 12})).empty());
  EXPECT_EQ(only(config_of({.pp = 13})), (ConstraintViolation{Why::stages, 13, 12}));
  const Plan chunks{.pp = 4, .virtual_stages = 4, .schedule = pipeline::Schedule::interleaved};
  EXPECT_EQ(only(config_of(chunks)), (ConstraintViolation{Why::stages, 16, 12}));
}

TEST(ConstraintViolations, StatedStagesMustMatchChunksAndLayers) {
  TrainingConfig s = config_of({.pp = 3, .stages = make_listed_stages({6, 6, 0}, 0)});
  EXPECT_TRUE(find_violations(s).empty());
  s.plan.stages = make_listed_stages({6, 6}, 0);
  EXPECT_EQ(only(s), (ConstraintViolation{Why::stage_count, 2, 3}));
  s.plan.stages = make_listed_stages({6, 5, 0}, 0);
  EXPECT_EQ(only(s), (ConstraintViolation{Why::stage_layers, 11, 12}));
}

TEST(ConstraintViolations, ChunksMustSuitTheSchedule) {
  const auto with = [](pipeline::Schedule schedule, i64 chunks) {
    return config_of({.pp = 2, .virtual_stages = chunks, .schedule = schedule});
  };
  EXPECT_TRUE(find_violations(with(pipeline::Schedule::one_f_one_b, 1)).empty());
  EXPECT_EQ(only(with(pipeline::Schedule::one_f_one_b, 2)),
            (ConstraintViolation{Why::chunks, 2, 1}));
  EXPECT_TRUE(find_violations(with(pipeline::Schedule::interleaved, 3)).empty());
  EXPECT_EQ(only(with(pipeline::Schedule::interleaved, 1)),
            (ConstraintViolation{Why::chunks, 1, 2}));
  EXPECT_TRUE(find_violations(with(pipeline::Schedule::zb_v, 2)).empty());
  EXPECT_EQ(only(with(pipeline::Schedule::zb_v, 3)), (ConstraintViolation{Why::chunks, 3, 2}));
  // Without a pipeline the schedule is irrelevant.
  EXPECT_TRUE(find_violations(config_of({.schedule = pipeline::Schedule::zb_v})).empty());
}

TEST(ConstraintViolations, MicrobatchesMustDivideTheBatch) {
  TrainingConfig s = config_of({.dp = 3, .micro_batch = 2});
  s.job.global_batch = 12;
  EXPECT_TRUE(find_violations(s).empty());
  s.job.global_batch = 15;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::batch, 6, 15}));
}

TEST(ConstraintViolations, TwoCpMustDivideTheSequence) {
  TrainingConfig s = config_of({.cp = 3});
  s.job.sequence = 18;
  EXPECT_TRUE(find_violations(s).empty());
  s.job.sequence = 21;  // 3 divides it, 2 x 3 does not
  EXPECT_EQ(only(s), (ConstraintViolation{Why::sequence_cp, 6, 21}));
}

TEST(ConstraintViolations, SequenceParallelTpMustDivideTheSequencePerCpRank) {
  TrainingConfig s = config_of({.tp = 4, .etp = 4, .sequence_parallel = true});
  s.job.sequence = 12;
  EXPECT_TRUE(find_violations(s).empty());
  s.job.sequence = 14;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::sequence_tp, 4, 14}));
  s.plan.sequence_parallel = false;
  EXPECT_TRUE(find_violations(s).empty());
  // cp 3 x lcm(2, 4) = 12.
  s = config_of({.tp = 4, .cp = 3, .etp = 4, .sequence_parallel = true});
  s.job.sequence = 18;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::sequence_tp, 12, 18}));
  s.job.sequence = 24;
  EXPECT_TRUE(find_violations(s).empty());
}

TEST(ConstraintViolations, UlyssesCpMustDivideTheHeadsPerTpRank) {
  // tp 2 leaves 4 of the 8 heads.
  TrainingConfig s = config_of({.tp = 2, .cp = 4, .etp = 2, .cp_comm = CpComm::a2a});
  EXPECT_TRUE(find_violations(s).empty());
  s = config_of({.tp = 2, .cp = 8, .etp = 2, .cp_comm = CpComm::a2a});
  EXPECT_EQ(only(s), (ConstraintViolation{Why::ulysses, 8, 4}));
  s.plan.cp_comm = CpComm::p2p;
  EXPECT_TRUE(find_violations(s).empty());
}

TEST(ConstraintViolations, ShardSizeMustDivideTheDataRanks) {
  EXPECT_TRUE(find_violations(config_of({.dp = 12, .zero = 3, .shard_size = 4})).empty());
  EXPECT_EQ(only(config_of({.dp = 12, .zero = 3, .shard_size = 5})),
            (ConstraintViolation{Why::shard, 5, 12}));
}

TEST(ConstraintViolations, BucketCountIsLimited) {
  TrainingConfig s = config_of({});
  const i64 all = count_parameters(s.model).total();
  const i64 min = (all + kMaxBuckets - 1) / kMaxBuckets;
  s.plan.bucket_size = min;
  EXPECT_TRUE(find_violations(s).empty());
  s.model.vocab *= kMaxBuckets;  // far more parameters for the same bucket
  const ConstraintViolation found = find_first_violation(s);
  EXPECT_EQ(found.why, Why::buckets);
  EXPECT_EQ(found.need, min);
  s.plan.bucket_size = found.have;
  EXPECT_TRUE(find_violations(s).empty());
  s.plan.bucket_size = found.have - 1;
  EXPECT_EQ(find_first_violation(s).why, Why::buckets);
}

/// Makes a pipeline with this schedule and number of microbatches.
TrainingConfig scheduled(pipeline::Schedule schedule, i64 pp, i64 chunks, i64 microbatches) {
  TrainingConfig s = config_of({.pp = pp, .virtual_stages = chunks, .schedule = schedule});
  s.job.global_batch = microbatches;
  return s;
}

TEST(ConstraintViolations, MicrobatchGroupMustNotBeSmallerThanPp) {
  const auto with = [](i64 group, i64 microbatches) {
    TrainingConfig s = scheduled(pipeline::Schedule::interleaved, 3, 2, microbatches);
    s.plan.microbatch_group = group;
    return s;
  };
  EXPECT_TRUE(find_violations(with(3, 8)).empty());  // 3, 3 and 2: only some frameworks reject this
  EXPECT_TRUE(
      find_violations(with(9, 8)).empty());  // larger than the number of microbatches: one group
  EXPECT_TRUE(find_violations(with(0, 7)).empty());  // not stated
  EXPECT_TRUE(find_violations(with(2, 2)).empty());  // all microbatches
  EXPECT_EQ(only(with(2, 8)), (ConstraintViolation{Why::group, 2, 3}));
  TrainingConfig s = with(2, 8);
  s.plan.schedule = pipeline::Schedule::zb_v;  // does not use groups
  EXPECT_TRUE(find_violations(s).empty());
}

TEST(ConstraintViolations, DualPipeNeedsAnEvenNumberOfRanks) {
  EXPECT_TRUE(find_violations(scheduled(pipeline::Schedule::dualpipe, 4, 1, 8)).empty());
  EXPECT_EQ(only(scheduled(pipeline::Schedule::dualpipe, 3, 1, 8)),
            (ConstraintViolation{Why::pp_multiple, 3, 2}));
  EXPECT_TRUE(find_violations(scheduled(pipeline::Schedule::dualpipe_v, 3, 2, 6))
                  .empty());  // V schedules do not need pairs
  EXPECT_TRUE(
      find_violations(scheduled(pipeline::Schedule::dualpipe, 1, 1, 1)).empty());  // no pipeline
}

TEST(ConstraintViolations, DualPipeNeedsAnEvenNumberOfMicrobatches) {
  EXPECT_EQ(only(scheduled(pipeline::Schedule::dualpipe, 4, 1, 9)),
            (ConstraintViolation{Why::microbatch_multiple, 9, 2}));
  EXPECT_TRUE(find_violations(scheduled(pipeline::Schedule::dualpipe_v, 4, 2, 9)).empty());
}

TEST(ConstraintViolations, DualPipeNeedsTwoMicrobatchesPerRank) {
  EXPECT_EQ(only(scheduled(pipeline::Schedule::dualpipe, 4, 1, 6)),
            (ConstraintViolation{Why::microbatches, 6, 8}));
  EXPECT_EQ(only(scheduled(pipeline::Schedule::dualpipe_v, 4, 2, 7)),
            (ConstraintViolation{Why::microbatches, 7, 8}));
}

TEST(ConstraintViolations, MicrobatchCount_IsCheckedOnlyIfTheBatchDivides) {
  TrainingConfig s = scheduled(pipeline::Schedule::dualpipe, 4, 1, 7);
  s.plan.micro_batch = 2;
  EXPECT_EQ(only(s), (ConstraintViolation{Why::batch, 2, 7}));
  s.plan.pp = s.world = 3;
  EXPECT_EQ(find_violations(s).size(), 2u);  // that 3 is odd can be checked without the batch
  EXPECT_TRUE(has(s, Why::pp_multiple));
}

/// Returns whether dealing n items to `hands` one by one gives all the same number.
bool dealt_evenly(i64 n, i64 hands) {
  std::vector<i64> held(std::size_t(hands), 0);
  for (i64 i = 0; i < n; ++i) ++held[std::size_t(i) % held.size()];
  return std::all_of(held.begin(), held.end(), [&](i64 h) { return h == held.front(); });
}

Plan random_plan(i64 world) {
  const mesh::MeshPair meshes = enumeration::random_meshes(world);
  return {.tp = meshes.dense.tp,
          .cp = meshes.dense.cp,
          .dp = meshes.dense.dp,
          .pp = meshes.dense.pp,
          .ep = meshes.expert.ep,
          .etp = meshes.expert.tp,
          .order = meshes.dense.order,
          .sequence_parallel = *rc::gen::arbitrary<bool>(),
          .cp_comm = *rc::gen::elementOf(std::vector<CpComm>{CpComm::p2p, CpComm::a2a}),
          .micro_batch = *rc::gen::inRange<i64>(1, 4)};
}

RC_GTEST_PROP(ConstraintViolations, RandomPlans_MatchCounting, ()) {
  const i64 world = *rc::gen::inRange<i64>(1, 49);
  const bool sparse = *rc::gen::arbitrary<bool>();
  TrainingConfig s = config_of(random_plan(world), sparse);
  s.job.global_batch = *rc::gen::inRange<i64>(1, 100);
  s.job.sequence = *rc::gen::inRange<i64>(1, 300);
  const Plan& p = s.plan;
  RC_ASSERT(has(s, Why::heads) == !dealt_evenly(8, p.tp));
  RC_ASSERT(has(s, Why::kv_heads) == (!dealt_evenly(4, p.tp) && !dealt_evenly(p.tp, 4)));
  RC_ASSERT(has(s, Why::ffn) == (!sparse && !dealt_evenly(48, p.tp)));
  RC_ASSERT(has(s, Why::expert_ffn) == (sparse && !dealt_evenly(20, p.etp)));
  RC_ASSERT(has(s, Why::experts) == (sparse && !dealt_evenly(6, p.ep)));
  RC_ASSERT(has(s, Why::no_experts) == (!sparse && p.ep > 1));
  RC_ASSERT(has(s, Why::stages) == (p.pp > 12));
  RC_ASSERT(has(s, Why::batch) == !dealt_evenly(s.job.global_batch, p.micro_batch * p.dp));
  RC_ASSERT(has(s, Why::sequence_cp) == (p.cp > 1 && !dealt_evenly(s.job.sequence, 2 * p.cp)));
  const mesh::MeshPair meshes = p.meshes();
  const bool one_pipeline = enumeration::groups(meshes.dense, {mesh::Axis::pp}) ==
                            enumeration::groups(meshes.expert, {mesh::Axis::pp});
  RC_ASSERT(has(s, Why::pipelines_differ) == (sparse && !one_pipeline));
  RC_ASSERT(!has(s, Why::degrees) && !has(s, Why::devices) && !has(s, Why::expert_ranks));
}

/// Checks sequence parallelism token by token: a cp rank has one piece from the front and its
/// mirror from the back, and tp divides the two together evenly.
bool tokens_cut_evenly(i64 sequence, i64 cp, i64 tp) {
  const i64 pieces = cp == 1 ? 1 : 2 * cp;
  if (!dealt_evenly(sequence, pieces)) return false;
  const i64 rank_tokens = sequence / cp;
  return dealt_evenly(rank_tokens, tp) && (cp == 1 || dealt_evenly(rank_tokens, 2));
}

RC_GTEST_PROP(ConstraintViolations, RandomSequences_MatchCountingTokens, ()) {
  const i64 tp = *rc::gen::elementOf(std::vector<i64>{1, 2, 4, 8});
  const i64 cp = *rc::gen::inRange<i64>(1, 6);
  TrainingConfig s = config_of({.tp = tp, .cp = cp, .etp = tp, .sequence_parallel = true});
  s.job.sequence = *rc::gen::inRange<i64>(1, 500);
  RC_ASSERT((has(s, Why::sequence_cp) || has(s, Why::sequence_tp)) ==
            !tokens_cut_evenly(s.job.sequence, cp, tp));
}

}  // namespace constraint_violation_test
}  // namespace rankwright::plan
