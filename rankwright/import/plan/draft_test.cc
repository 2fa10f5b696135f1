#include "rankwright/import/plan/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/support/golden.h"

namespace rankwright::importer {
namespace draft_test {

using testing::ElementsAre;

/// Returns the assumption as "key = value (why)" and a line break.
std::string format_assumption(const plan::Assumption& a) {
  return a.key + " = " + a.value + (a.why.empty() ? "" : " (" + a.why + ")") + "\n";
}

/// Returns the assumption about `key`, with its reason; empty if its value is stated.
std::string find_assumption(const plan::TrainingConfig& config, std::string_view key) {
  for (const plan::Assumption& a : config.assumed)
    if (a.key == key) return format_assumption(a);
  return "";
}

Draft course() {
  Draft draft;
  draft.world = 64;
  draft.shape = NodeShape{8, 8};
  draft.tp = 8;
  draft.pp = 4;
  draft.dp = 2;
  return draft;
}

TEST(Resolve, CoursePlan_ListsItsAssumptions) {
  const rankwright::plan::TrainingConfig config = resolve(course());
  EXPECT_EQ(config.world, 64);
  EXPECT_TRUE(config.reference_model);
  EXPECT_EQ(config.cluster.devices(), 64);
  EXPECT_TRUE(config.plan.sequence_parallel);
  EXPECT_EQ(config.job.global_batch, 512);  // 4 Mi tokens / 8,192
  EXPECT_TRUE(find_violations(config).empty());
  std::string assumed;
  for (const plan::Assumption& a : config.assumed) assumed += format_assumption(a);
  golden::expect("import/draft-course-assumptions.txt", assumed);
}

TEST(Resolve, DerivedValues_HaveTheirReasons) {
  // 64 ranks / (tp 8 x pp 2) leave dp 4; experts follow tp 8 until ep splits them; 4 of 8 GPUs.
  Draft degrees;
  degrees.world = 64;
  degrees.tp = 8;
  degrees.pp = 2;
  Draft experts = course();
  experts.model = catalog::find_model("mixtral-8x7b").value();
  Draft split = experts;
  split.ep = 2;
  Draft half_a_node;
  half_a_node.world = 4;
  golden::expect("import/draft-derived-values.txt",
                 find_assumption(resolve(degrees), "parallelism.dp_size") +
                     find_assumption(resolve(experts), "parallelism.etp_size") +
                     find_assumption(resolve(split), "parallelism.etp_size") +
                     find_assumption(resolve(half_a_node), "cluster"));
}

TEST(Resolve, FrameworkFollowsTheTarget) {
  Draft draft;
  EXPECT_EQ(resolve(draft).software.name, "megatron-core");
  draft.target = rules::Target::torchtitan;
  EXPECT_EQ(resolve(draft).software.name, "torchtitan");
  draft.target = rules::Target::slurm;  // a launcher
  EXPECT_EQ(resolve(draft).software.name, "megatron-core");
}

TEST(Resolve, AnEmptyDraftIsOneGpu) {
  const rankwright::plan::TrainingConfig config = resolve({});
  EXPECT_EQ(config.world, 1);
  EXPECT_EQ(config.plan.ranks(), 1);
  EXPECT_EQ(config.cluster.devices(), 1);
  EXPECT_FALSE(config.plan.sequence_parallel);
  EXPECT_EQ(config.job.global_batch, 512);
}

TEST(Resolve, WorldSizeFollowsFromShapeClusterOrDegrees) {
  Draft draft;
  draft.tp = 2;
  draft.dp = 3;
  EXPECT_EQ(resolve(draft).world, 6);
  draft.shape = NodeShape{4, 8};
  EXPECT_EQ(resolve(draft).world, 32);
  draft.world = 16;
  EXPECT_EQ(resolve(draft).world, 16);
  Draft on_cluster;
  on_cluster.cluster = catalog::find_cluster("dgx-h100 x 3").value();
  EXPECT_EQ(resolve(on_cluster).world, 24);
  on_cluster.dp = 2;  // all degrees are stated: the cluster may be larger
  EXPECT_EQ(resolve(on_cluster).world, 2);
}

TEST(Resolve, DpIsWhatTheOtherDegreesLeave) {
  Draft draft;
  draft.world = 64;
  draft.tp = 8;
  draft.pp = 2;
  EXPECT_EQ(resolve(draft).plan.dp, 4);
  EXPECT_TRUE(resolve(draft).left_open("parallelism.dp_size"));
  draft.tp = 5;  // does not divide the world: a rule reports it
  EXPECT_EQ(resolve(draft).plan.dp, 1);
  EXPECT_FALSE(resolve(draft).left_open("parallelism.dp_size"));
}

TEST(Resolve, ExpertsAreSplitOverEpAlone) {
  Draft draft = course();
  draft.model = catalog::find_model("mixtral-8x7b").value();
  EXPECT_EQ(resolve(draft).plan.etp, 8);  // tp
  EXPECT_TRUE(resolve(draft).left_open("parallelism.etp_size"));
  draft.ep = 2;
  EXPECT_EQ(resolve(draft).plan.etp, 1);
  EXPECT_TRUE(resolve(draft).left_open("parallelism.etp_size"));
  draft.etp = 4;
  EXPECT_EQ(resolve(draft).plan.etp, 4);
  EXPECT_FALSE(resolve(draft).left_open("parallelism.etp_size"));
}

TEST(Resolve, DenseModel_EtpFollowsTp) {
  Draft draft = course();
  draft.etp = 4;
  EXPECT_EQ(resolve(draft).plan.etp, 8);  // tp
  EXPECT_FALSE(resolve(draft).left_open("parallelism.etp_size"));
}

TEST(Resolve, ReferenceClusterHasWholeNodes) {
  Draft draft;
  draft.world = 12;  // one and a half nodes
  EXPECT_EQ(resolve(draft).cluster.devices(), 16);
  draft.world = 4;
  EXPECT_EQ(resolve(draft).cluster.devices(), 4);
  EXPECT_TRUE(resolve(draft).left_open("cluster"));
}

TEST(Resolve, VirtualStagesDefaultToInterleaved) {
  Draft draft = course();
  draft.virtual_stages = 2;
  EXPECT_EQ(resolve(draft).plan.schedule, pipeline::Schedule::interleaved);
  draft.schedule = pipeline::Schedule::zb_v;
  EXPECT_EQ(resolve(draft).plan.schedule, pipeline::Schedule::zb_v);
}

TEST(Resolve, ZeroOverlapsParamGatherByDefault) {
  Draft draft = course();
  EXPECT_FALSE(resolve(draft).plan.overlap.param_gather);
  draft.zero = 1;
  EXPECT_TRUE(resolve(draft).plan.overlap.param_gather);
  draft.overlap_param = false;
  EXPECT_FALSE(resolve(draft).plan.overlap.param_gather);
}

TEST(Resolve, StatedValuesAreNotAssumed) {
  Draft draft = course();
  draft.sequence = 8192;
  draft.global_batch = 128;
  draft.micro_batch = 2;
  const rankwright::plan::TrainingConfig config = resolve(draft);
  EXPECT_EQ(config.job.sequence, 8192);
  EXPECT_EQ(config.job.global_batch, 128);
  EXPECT_EQ(config.plan.micro_batch, 2);
  EXPECT_FALSE(config.left_open("job.sequence") || config.left_open("job.global_batch") ||
               config.left_open("parallelism.micro_batch"));
}

TEST(Resolve, CyclicPlacementHasADeviceForEveryRank) {
  // 12 ranks on hosts of 8: two hosts, with rank 11 on the second.
  Draft draft;
  draft.world = 12;
  draft.placement = mesh::Placement::Kind::cyclic;
  const mesh::Placement placement = resolve(draft).plan.placement;
  EXPECT_EQ(placement.hosts, 2);
  EXPECT_EQ(placement.device(11), 8 + 5);
}

TEST(Resolve, HostOrderDeterminesEveryDevice) {
  Draft draft;
  draft.shape = NodeShape{2, 2};
  draft.host_order = std::vector<i64>{1, 0};
  EXPECT_THAT(resolve(draft).plan.placement.devices, ElementsAre(2, 3, 0, 1));
  draft.host_order = std::vector<i64>{1};  // one host is missing: a violation
  EXPECT_EQ(
      find_violations(resolve(draft)),
      (std::vector<plan::ConstraintViolation>{{plan::ConstraintViolation::Why::placement, 0, 4}}));
}

TEST(Resolve, WorldLargerThanAnyCluster_IsAViolation) {
  // 2^22 x 2^10 ranks: the reference cluster is clamped to 2^22 devices.
  Draft draft;
  draft.dp = cluster::kMaxDevices;
  draft.cp = 1024;
  const rankwright::plan::TrainingConfig config = resolve(draft);
  EXPECT_EQ(config.cluster.devices(), cluster::kMaxDevices);
  EXPECT_EQ(find_first_violation(config),
            (plan::ConstraintViolation{plan::ConstraintViolation::Why::devices,
                                       cluster::kMaxDevices * 1024, cluster::kMaxDevices}));
}

RC_GTEST_PROP(Resolve, NeverOverflows64Bits, ()) {
  const auto any = [](i64 max) {
    return *rc::gen::oneOf(rc::gen::inRange<i64>(1, 9), rc::gen::just(max));
  };
  Draft draft;
  draft.tp = any(cluster::kMaxDevices);
  draft.cp = any(cluster::kMaxDevices);
  draft.pp = any(cluster::kMaxDevices);
  draft.ep = any(cluster::kMaxDevices);
  if (*rc::gen::arbitrary<bool>()) draft.dp = any(cluster::kMaxDevices);
  if (*rc::gen::arbitrary<bool>()) draft.world = any(cluster::kMaxDevices);
  draft.virtual_stages = any(4096);
  draft.micro_batch = any(i64{1} << 20);
  const rankwright::plan::TrainingConfig config = resolve(draft);
  RC_ASSERT(config.world >= 1 && config.plan.dp >= 1 && config.job.global_batch >= 1);
  RC_ASSERT(bool(find_first_violation(config)) == !find_violations(config).empty());
}

TEST(Resolve, GradDtypeFollowsTheFramework) {
  const auto assumed = [](plan::Dtype parameters) {
    Draft draft;
    draft.world = 8;
    draft.param_dtype = parameters;
    for (const plan::Software& one : plan::frameworks())
      if (one.name == "rankwright") draft.framework = one;
    return resolve(draft).job.grad_dtype;
  };
  EXPECT_EQ(assumed(plan::Dtype::bf16), plan::Dtype::fp32);
  EXPECT_EQ(assumed(plan::Dtype::fp64), plan::Dtype::fp64);
}

}  // namespace draft_test
}  // namespace rankwright::importer
