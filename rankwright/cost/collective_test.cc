#include "rankwright/cost/collective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/cost/priced.h"
#include "tests/sample.h"

namespace rankwright {
namespace {

/// Eight nodes as of dgx-h100 with round latencies: 450 GB/s to each GPU inside a node, a NIC of
/// 50 GB/s for each GPU.
Cluster nodes() {
  Cluster cluster;
  cluster.levels = {{.name = "nvlink", .arity = 8, .bandwidth = 450.0_GBps, .latency = 2.0_us},
                    {.name = "infiniband", .arity = 8, .bandwidth = 50.0_GBps, .latency = 5.0_us}};
  return cluster;
}

Span span_on(const Cluster& cluster, const Plan& plan, GroupKind kind) {
  return span(group_shape(plan.meshes(), kind, plan.shards()), plan.ranks(), {}, cluster);
}

double time_of(Op op, Bytes size, const Cluster& cluster, const Plan& plan, GroupKind kind) {
  return collective_time(op, size, span_on(cluster, plan, kind), cluster).value;
}

const Plan kCourse{.tp = 8, .dp = 8};

TEST(CollectiveTime, IsNothingAlone) {
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::all_to_all, Op::send_recv})
    EXPECT_EQ(time_of(op, 1.0_GB, nodes(), kCourse, GroupKind::pp), 0);
}

TEST(CollectiveTime, OfARingInsideANode) {
  // 7 x 2 us + 7/8 x 0.9 GB / 450 GB/s = 14 us + 1.75 ms; an all-reduce twice that
  EXPECT_DOUBLE_EQ(time_of(Op::all_gather, 0.9_GB, nodes(), kCourse, GroupKind::tp),
                   (1.764_ms).value);
  EXPECT_DOUBLE_EQ(time_of(Op::reduce_scatter, 0.9_GB, nodes(), kCourse, GroupKind::tp),
                   (1.764_ms).value);
  EXPECT_DOUBLE_EQ(time_of(Op::all_reduce, 0.9_GB, nodes(), kCourse, GroupKind::tp),
                   (3.528_ms).value);
}

TEST(CollectiveTime, OfARingAcrossNodesWithANicForEachGpu) {
  // 8 groups leave a node on 8 NICs: 7 x 5 us + 7/8 x 0.8 GB / 50 GB/s = 35 us + 14 ms; twice
  EXPECT_DOUBLE_EQ(time_of(Op::all_reduce, 0.8_GB, nodes(), kCourse, GroupKind::dp),
                   2 * (14.035_ms).value);
}

TEST(CollectiveTime, OfARingAcrossNodesOnOneNic) {
  Cluster shared = nodes();
  shared.levels[1].per = Level::Per::domain;
  // the 8 groups of a node share 50 GB/s: 35 us + 8 x 14 ms
  EXPECT_DOUBLE_EQ(time_of(Op::all_gather, 0.8_GB, shared, kCourse, GroupKind::dp),
                   (112.035_ms).value);
}

TEST(CollectiveTime, OfARingOverWholeNodesUsesAllNics) {
  // 64 ranks: 7 x 2 us + 7 x 5 us; 56/64 of 0.8 GB enter a node on 8 x 50 GB/s: 1.75 ms; inside
  // 63/64 x 0.8 GB / 450 GB/s = 1.75 ms too
  EXPECT_DOUBLE_EQ(time_of(Op::all_gather, 0.8_GB, nodes(), kCourse, GroupKind::world),
                   (0.049_ms + 1.75_ms).value);
}

TEST(CollectiveTime, OfOversubscriptionIsLonger) {
  Cluster cluster = nodes();
  cluster.levels[1].oversubscription = 2;  // half of 50 GB/s: 35 us + 28 ms
  EXPECT_DOUBLE_EQ(time_of(Op::all_gather, 0.8_GB, cluster, kCourse, GroupKind::dp),
                   (28.035_ms).value);
}

TEST(CollectiveTime, OfAllToAllSendsWhatIsForOthers) {
  // inside: 2 us + 7/8 x 0.9 GB / 450 GB/s
  EXPECT_DOUBLE_EQ(time_of(Op::all_to_all, 0.9_GB, nodes(), kCourse, GroupKind::tp),
                   (1.752_ms).value);
  // over 64: 8 members of a node each send 56/64 of 0.8 GB through 8 x 50 GB/s: 5 us + 14 ms
  EXPECT_DOUBLE_EQ(time_of(Op::all_to_all, 0.8_GB, nodes(), kCourse, GroupKind::world),
                   (14.005_ms).value);
}

TEST(CollectiveTime, OfASendIsTheMessageOnOneNic) {
  // pp 8 across nodes, 8 pipelines on 8 NICs: 5 us + 0.1 GB / 50 GB/s
  EXPECT_DOUBLE_EQ(time_of(Op::send_recv, 0.1_GB, nodes(), {.tp = 8, .pp = 8}, GroupKind::pp),
                   (2.005_ms).value);
}

TEST(CollectiveTime, OfASmallAllReduceIsThatOfATree) {
  // 8 B over 64 ranks: 3 steps inside and 3 across, down and up, 2 x (3 x 2 + 3 x 5) us, and the
  // slower link: 8 B / 50 GB/s for a device's share of its node's NICs is less than inside
  const double inside = 8 / 450e9, across = 8 / 400e9;
  EXPECT_DOUBLE_EQ(time_of(Op::all_reduce, 8.0_B, nodes(), kCourse, GroupKind::world),
                   2 * (21e-6 + std::max(inside, across)));
}

TEST(CollectiveTime, OfATreeCountsStepsUpwards) {
  // 3 nodes of 8: ceil(log2 3) = 2 steps across
  Cluster three = nodes();
  three.levels[1].arity = 3;
  EXPECT_DOUBLE_EQ(time_of(Op::all_reduce, 0.0_B, three, {.tp = 8, .dp = 3}, GroupKind::dp),
                   2 * 2 * 5e-6);
}

TEST(CollectiveTime, OfALargeAllReduceIsThatOfARing) {
  const double gather = time_of(Op::all_gather, 8.0_GB, nodes(), kCourse, GroupKind::world);
  EXPECT_DOUBLE_EQ(time_of(Op::all_reduce, 8.0_GB, nodes(), kCourse, GroupKind::world), 2 * gather);
}

TEST(Innermost, IsAFlatRingOnTheFirstLevel) {
  const Span inner = innermost(span_on(nodes(), kCourse, GroupKind::world));
  // 63 x 2 us + 63/64 x 0.8 GB / 450 GB/s
  EXPECT_DOUBLE_EQ(collective_time(Op::all_gather, 0.8_GB, inner, nodes()).value,
                   126e-6 + 63 * 0.8 / 64 / 450);
}

TEST(Innermost, ChangesNothingForGroupsThatAreThere) {
  const Span tp = span_on(nodes(), kCourse, GroupKind::tp);
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::all_to_all, Op::send_recv})
    EXPECT_EQ(collective_time(op, 1.0_GB, innermost(tp), nodes()),
              collective_time(op, 1.0_GB, tp, nodes()));
}

TEST(SlowestLevel, IsWhereTheTimeGoes) {
  EXPECT_EQ(
      slowest_level(Op::all_gather, 1.0_GB, span_on(nodes(), kCourse, GroupKind::tp), nodes()), 0);
  EXPECT_EQ(
      slowest_level(Op::all_gather, 1.0_GB, span_on(nodes(), kCourse, GroupKind::dp), nodes()), 1);
  EXPECT_EQ(
      slowest_level(Op::all_gather, 1.0_GB, span_on(nodes(), kCourse, GroupKind::pp), nodes()), -1);
}

struct Draw {
  Cluster cluster = nodes();
  Op op{};
  Span span{};
  Bytes size{};
  Seconds time() const { return collective_time(op, size, span, cluster); }
};

Draw draw() {
  Draw d;
  const Plan plan{.tp = sample::one_of({1, 2, 4, 8, 16}), .dp = 4};
  d.op = Op(sample::one_of({0, 1, 2, 3, 4}));
  d.span = span_on(d.cluster, plan, sample::coin() ? GroupKind::tp : GroupKind::dp);
  d.size = bytes(*rc::gen::inRange<i64>(0, 1 << 30), 1);
  return d;
}

RC_GTEST_PROP(CollectiveTime, NeverFallsWithLessBandwidth, ()) {
  Draw fast = draw(), slow = fast;
  Level& level = slow.cluster.levels[std::size_t(sample::one_of({0, 1}))];
  level.bandwidth = level.bandwidth / 3;
  RC_ASSERT(slow.time() >= fast.time());
}

RC_GTEST_PROP(CollectiveTime, NeverFallsWithMoreSharersOrLatency, ()) {
  const Draw alone = draw();
  Draw shared = alone, late = alone;
  shared.span.sharers[1] *= 2;
  late.cluster.levels[0].latency = 20.0_us;
  RC_ASSERT(shared.time() >= alone.time());
  RC_ASSERT(late.time() >= alone.time());
}

RC_GTEST_PROP(CollectiveTime, NeverFallsWithSize, ()) {
  const Draw small = draw();
  Draw large = small;
  large.size = 2 * small.size;
  RC_ASSERT(large.time() >= small.time());
  RC_ASSERT(large.time() <= 2 * small.time());  // latency is paid once
}

}  // namespace
}  // namespace rankwright
