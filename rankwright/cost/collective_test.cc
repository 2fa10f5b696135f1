#include "rankwright/cost/collective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/traffic_cost.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace collective_test {

constexpr plan::Op kOps[] = {plan::Op::all_reduce, plan::Op::all_gather, plan::Op::reduce_scatter,
                             plan::Op::all_to_all, plan::Op::send_recv};

/// Eight nodes like dgx-h100 with round figures: 450 GB/s per GPU inside a node, a NIC of 50 GB/s
/// per GPU. Without a generation, nothing is reduced in the network.
cluster::Cluster nodes() {
  cluster::Cluster cluster;
  cluster.levels = {{.name = "nvlink", .arity = 8, .bandwidth = 450.0_GBps, .latency = 1.0_us},
                    {.name = "infiniband", .arity = 8, .bandwidth = 50.0_GBps, .latency = 5.0_us}};
  return cluster;
}

/// Links reach their full bandwidth, the floor is 10 us, and a step of the full-bandwidth protocol
/// takes 5 times as long as one of the low-latency protocol.
cluster::Calibration round_constants() {
  cluster::Calibration c;
  c[cluster::Constant::link_share] = c[cluster::Constant::nic_share] = 1;
  c[cluster::Constant::nic_all_to_all] = 1;
  c[cluster::Constant::collective_floor] = 10;
  c[cluster::Constant::collective_ramp] = 4;
  c[cluster::Constant::in_network] = 0.8;
  return c;
}

mesh::Span span_on(const cluster::Cluster& cluster, const plan::Plan& plan, mesh::GroupKind kind) {
  return span(make_group_shape(plan.meshes(), kind, plan.shards()), plan.ranks(), {}, cluster);
}

CollectiveCost cost_of(plan::Op op, Bytes size, const cluster::Cluster& cluster,
                       const plan::Plan& plan, mesh::GroupKind kind) {
  return estimate_collective_cost(op, size, span_on(cluster, plan, kind), cluster,
                                  round_constants());
}

/// Computes C1 in microseconds.
double total(double inner, double outer, double wire) {
  const double latency = inner + outer;
  return 10 + latency + wire + (4 * inner + 3 * outer) * wire / (wire + 1.5 * latency);
}

void expect(const CollectiveCost& cost, Algorithm algorithm, double inner, double outer,
            double wire) {
  EXPECT_EQ(name(cost.algorithm), name(algorithm));
  EXPECT_NEAR(cost.latency.value * 1e6, inner + outer, 1e-9 * (inner + outer));
  EXPECT_NEAR(cost.wire.value * 1e6, wire, 1e-9 * wire);
  EXPECT_NEAR(cost.time.value * 1e6, total(inner, outer, wire), 1e-9 * total(inner, outer, wire));
}

const plan::Plan kCourse{.tp = 8, .dp = 8};

TEST(CollectiveCost, OneRankCostsNothing) {
  for (const plan::Op op : kOps) {
    const CollectiveCost alone = cost_of(op, 1.0_GB, nodes(), kCourse, mesh::GroupKind::pp);
    EXPECT_EQ(alone.time, 0.0_s);
    EXPECT_EQ(alone.algorithm, Algorithm::none);
    EXPECT_EQ(alone.slowest, -1);
  }
}

TEST(CollectiveCost, EmptyMessageCostsFloorAndLatency) {
  // a floor of 10 us and 7 steps of 1 us
  expect(cost_of(plan::Op::all_gather, 0.0_B, nodes(), kCourse, mesh::GroupKind::tp),
         Algorithm::ring, 7, 0, 0);
}

TEST(CollectiveCost, RingInsideANodeMatchesTheWorkedExample) {
  // 7 steps of 1 us; 7/8 x 0.9 GB / 450 GB/s = 1750 us. Time: 10 + 7 + 1750 + 4 x 7 x 1750 / (1750
  // + 1.5 x 7). An all-reduce has twice the steps and the bytes.
  for (const plan::Op op : {plan::Op::all_gather, plan::Op::reduce_scatter})
    expect(cost_of(op, 0.9_GB, nodes(), kCourse, mesh::GroupKind::tp), Algorithm::ring, 7, 0, 1750);
  expect(cost_of(plan::Op::all_reduce, 0.9_GB, nodes(), kCourse, mesh::GroupKind::tp),
         Algorithm::ring, 14, 0, 3500);
  EXPECT_NEAR(
      cost_of(plan::Op::all_gather, 0.9_GB, nodes(), kCourse, mesh::GroupKind::tp).time.value,
      1767e-6 + 28e-6 * 1750 / 1760.5, 1e-12);
}

TEST(CollectiveCost, UsesTheCalibratedShareOfItsLinks) {
  cluster::Calibration shares = round_constants();
  shares[cluster::Constant::link_share] = 0.5;
  shares[cluster::Constant::nic_share] = 0.25;
  const auto wire = [&](mesh::GroupKind kind) {
    const mesh::Span span = span_on(nodes(), kCourse, kind);
    return estimate_collective_cost(plan::Op::all_gather, 0.9_GB, span, nodes(), shares).wire.value;
  };
  EXPECT_NEAR(wire(mesh::GroupKind::tp), 2 * 1.75e-3, 1e-12);
  EXPECT_NEAR(wire(mesh::GroupKind::dp), 4 * 15.75e-3, 1e-12);  // 7/8 x 0.9 GB / 50 GB/s
}

TEST(CollectiveCost, RingAcrossNodesWithOneNicPerGpu) {
  // 8 groups leave a node on 8 NICs: 7 steps of 5 us, 7/8 x 0.8 GB / 50 GB/s = 14 ms
  expect(cost_of(plan::Op::all_gather, 0.8_GB, nodes(), kCourse, mesh::GroupKind::dp),
         Algorithm::ring, 0, 35, 14000);
}

TEST(CollectiveCost, RingAcrossNodesOnASharedNic) {
  cluster::Cluster one = nodes();
  one.levels[1].per = cluster::Level::Per::domain;
  // the 8 groups of a node share 50 GB/s: 8 x 14 ms
  expect(cost_of(plan::Op::all_gather, 0.8_GB, one, kCourse, mesh::GroupKind::dp), Algorithm::ring,
         0, 35, 112000);
}

TEST(CollectiveCost, RingOverWholeNodesUsesAllNics) {
  // 64 ranks: 7 steps inside and 7 across; 63/64 of 0.8 GB enter a node on 8 x 50 GB/s: 1968.75 us
  const CollectiveCost cost =
      cost_of(plan::Op::all_gather, 0.8_GB, nodes(), kCourse, mesh::GroupKind::world);
  expect(cost, Algorithm::ring, 7, 35, 63 * 800e6 / 64 / 400e3);
  EXPECT_EQ(cost.slowest, 1);
}

TEST(CollectiveCost, RingOverALargeDomainUsesEightNics) {
  // Two racks of 72: a rack has 72 NICs, of which a group uses 8: 143/144 x 1.44 GB / 400 GB/s
  cluster::Cluster racks = nodes();
  racks.levels[0].arity = 72;
  racks.levels[1].arity = 2;
  const CollectiveCost ring = *estimate_collective_cost(
      plan::Op::all_gather, 1.44_GB, span_on(racks, {.dp = 144}, mesh::GroupKind::dp), racks,
      round_constants(), Algorithm::ring);
  expect(ring, Algorithm::ring, 71, 5, 143 * 10e6 / 400e3);
  // 72 groups of 2 with one member per rack have a NIC each: 1/2 x 0.1 GB / 50 GB/s
  expect(cost_of(plan::Op::all_gather, 0.1_GB, racks, {.tp = 72, .dp = 2}, mesh::GroupKind::dp),
         Algorithm::ring, 0, 5, 1000);
}

TEST(CollectiveCost, OversubscriptionReducesBandwidth) {
  cluster::Cluster cluster = nodes();
  cluster.levels[1].oversubscription = 2;  // half of 50 GB/s
  expect(cost_of(plan::Op::all_gather, 0.8_GB, cluster, kCourse, mesh::GroupKind::dp),
         Algorithm::ring, 0, 35, 28000);
}

TEST(CollectiveCost, TreeHasLogarithmicSteps) {
  // 8 nodes, one member each: 2 x 3 steps of 5 us, not 14; a node forwards 8 kB twice
  expect(cost_of(plan::Op::all_reduce, Bytes{8e3}, nodes(), kCourse, mesh::GroupKind::dp),
         Algorithm::tree, 0, 30, 2 * 8e3 / 50e3);
}

TEST(CollectiveCost, TreeRoundsItsDepthUp) {
  // 3 nodes: ceil(log2 3) = 2 steps down and 2 up; a ring has as many steps and moves less
  cluster::Cluster three = nodes();
  three.levels[1].arity = 3;
  const mesh::Span span = span_on(three, {.tp = 8, .dp = 3}, mesh::GroupKind::dp);
  expect(*estimate_collective_cost(plan::Op::all_reduce, 1.0_MB, span, three, round_constants(),
                                   Algorithm::tree),
         Algorithm::tree, 0, 20, 2 * 1e6 / 50e3);
}

TEST(CollectiveCost, TreeOfTwoNodesSendsOnce) {
  // 16 members on two nodes: 14 steps inside, 2 across; 0.8 GB / 400 GB/s = 2000 us across, inside
  // twice 0.8 GB / 450 GB/s = 3556 us
  cluster::Cluster two = nodes();
  two.levels[1].arity = 2;
  const mesh::Span both = span_on(two, {.dp = 16}, mesh::GroupKind::dp);
  const CollectiveCost tree = *estimate_collective_cost(plan::Op::all_reduce, 0.8_GB, both, two,
                                                        round_constants(), Algorithm::tree);
  expect(tree, Algorithm::tree, 14, 10, 1600e6 / 450e3);
  EXPECT_EQ(tree.slowest, 0);
  two.levels[1].bandwidth = 10.0_GBps;  // 0.8 GB / 80 GB/s
  const CollectiveCost slow = *estimate_collective_cost(plan::Op::all_reduce, 0.8_GB, both, two,
                                                        round_constants(), Algorithm::tree);
  expect(slow, Algorithm::tree, 14, 10, 10000);
  EXPECT_EQ(slow.slowest, 1);
}

TEST(CollectiveCost, TreeOfTwoRanksInsideANodeSendsOnce) {
  // 2 steps of 1 us, 0.9 GB / 450 GB/s = 2000 us
  const mesh::Span two = span_on(nodes(), {.tp = 2}, mesh::GroupKind::tp);
  expect(*estimate_collective_cost(plan::Op::all_reduce, 0.9_GB, two, nodes(), round_constants(),
                                   Algorithm::tree),
         Algorithm::tree, 2, 0, 2000);
}

TEST(CollectiveCost, InNetworkReductionSendsOnce) {
  // 8 members: 9 steps of 1 us; 0.9 GB at 0.8 of 450 GB/s = 2500 us, where a ring takes 3500
  cluster::Cluster cluster = nodes();
  cluster.device.generation = "hopper";
  expect(cost_of(plan::Op::all_reduce, 0.9_GB, cluster, kCourse, mesh::GroupKind::tp),
         Algorithm::in_network, 9, 0, 2500);
  // over 64 ranks: a tree of 8 nodes outside, 2 x 3 steps, twice 0.8 GB / 400 GB/s = 4 ms
  const mesh::Span world = span_on(cluster, kCourse, mesh::GroupKind::world);
  expect(*estimate_collective_cost(plan::Op::all_reduce, 0.8_GB, world, cluster, round_constants(),
                                   Algorithm::in_network),
         Algorithm::in_network, 9, 30, 4000);
}

TEST(CollectiveCost, InNetworkReductionNeedsASwitchAndEnoughMembers) {
  const auto possible = [](std::string generation, i64 members, BytesPerSecond link) {
    cluster::Cluster cluster = nodes();
    cluster.device.generation = generation;
    cluster.levels[0].bandwidth = link;
    const mesh::Span span = span_on(cluster, {.tp = members}, mesh::GroupKind::tp);
    return estimate_collective_cost(plan::Op::all_reduce, 1.0_GB, span, cluster, round_constants(),
                                    Algorithm::in_network)
        .has_value();
  };
  EXPECT_TRUE(possible("hopper", 5, 450.0_GBps));
  EXPECT_FALSE(possible("hopper", 4, 450.0_GBps));
  EXPECT_TRUE(possible("blackwell", 6, 900.0_GBps));
  EXPECT_FALSE(possible("blackwell", 5, 900.0_GBps));
  EXPECT_FALSE(possible("ampere", 8, 300.0_GBps));
  EXPECT_FALSE(possible("hopper", 8, 63.0_GBps));    // PCIe 5.0
  EXPECT_FALSE(possible("hopper", 12, 450.0_GBps));  // 8 in a node, but 4 in the next
  EXPECT_TRUE(possible("hopper", 16, 450.0_GBps));
}

TEST(CollectiveCost, HierarchicalMovesLessAcrossASlowLink) {
  // Two nodes of 8 that share 10 GB/s each: a ring moves 15/16 of 1.6 GB across, 150 ms. Stages
  // move half of it, 80 ms, and 7/8 inside, 3.11 ms.
  cluster::Cluster two = nodes();
  two.levels[1] = {.name = "ethernet",
                   .arity = 2,
                   .bandwidth = 10.0_GBps,
                   .latency = 5.0_us,
                   .per = cluster::Level::Per::domain};
  const CollectiveCost cost =
      cost_of(plan::Op::all_gather, 1.6_GB, two, {.dp = 16}, mesh::GroupKind::dp);
  expect(cost, Algorithm::hierarchical, 7, 5, 80000 + 1400e6 / 450e3);
  EXPECT_EQ(cost.slowest, 1);
}

TEST(CollectiveCost, HierarchicalOnThreeLevels) {
  // 2 devices, 2 nodes, 2 pods; 100, 10 and 4 GB/s a device. 0.8 GB: half of it at each level, on
  // 1, 2 and 4 links: 4 ms + 20 ms + 25 ms; steps 1 + 2 + 3 us
  cluster::Cluster pods;
  pods.levels = {{.name = "a", .arity = 2, .bandwidth = 100.0_GBps, .latency = 1.0_us},
                 {.name = "b", .arity = 2, .bandwidth = 10.0_GBps, .latency = 2.0_us},
                 {.name = "c", .arity = 2, .bandwidth = 4.0_GBps, .latency = 3.0_us}};
  const mesh::Span all = span_on(pods, {.dp = 8}, mesh::GroupKind::dp);
  const CollectiveCost cost = *estimate_collective_cost(plan::Op::reduce_scatter, 0.8_GB, all, pods,
                                                        round_constants(), Algorithm::hierarchical);
  expect(cost, Algorithm::hierarchical, 1, 5, 49000);
  EXPECT_EQ(cost.slowest, 2);
  // Where the pods have more than the nodes give, the nodes' links decide that stage: half of it on
  // 4 links of 10 GB/s = 10 ms
  pods.levels[2].bandwidth = 40.0_GBps;
  expect(*estimate_collective_cost(plan::Op::reduce_scatter, 0.8_GB, all, pods, round_constants(),
                                   Algorithm::hierarchical),
         Algorithm::hierarchical, 1, 5, 34000);
}

TEST(CollectiveCost, AllToAllReachesLessOfANicThanARing) {
  // 64 ranks send 56/64 of 8 GB through NICs of 50 GB/s: 140 ms alone, twice that at half the
  // share.
  cluster::Calibration half = round_constants();
  half[cluster::Constant::nic_all_to_all] = 0.5;
  const mesh::Span span = span_on(nodes(), {.dp = 64}, mesh::GroupKind::dp);
  const auto wire = [&](const cluster::Calibration& c, plan::Op op) {
    return estimate_collective_cost(op, 8.0_GB, span, nodes(), c).wire;
  };
  EXPECT_NEAR(wire(round_constants(), plan::Op::all_to_all) / 140.0_ms, 1, 1e-9);
  EXPECT_NEAR(wire(half, plan::Op::all_to_all) / 280.0_ms, 1, 1e-9);
  EXPECT_EQ(wire(half, plan::Op::all_gather), wire(round_constants(), plan::Op::all_gather));
}

TEST(CollectiveCost, AllToAllSendsOnlyToOthers) {
  // inside: a step of 1 us, 7/8 x 0.9 GB / 450 GB/s
  expect(cost_of(plan::Op::all_to_all, 0.9_GB, nodes(), kCourse, mesh::GroupKind::tp),
         Algorithm::direct, 1, 0, 1750);
  // over 64: 8 members of a node each send 56/64 of 0.8 GB through 8 x 50 GB/s
  expect(cost_of(plan::Op::all_to_all, 0.8_GB, nodes(), kCourse, mesh::GroupKind::world),
         Algorithm::direct, 1, 5, 14000);
}

TEST(CollectiveCost, SendUsesOneNic) {
  // pp 8 across nodes, 8 pipelines on 8 NICs: a step of 5 us, 0.1 GB / 50 GB/s
  expect(cost_of(plan::Op::send_recv, 0.1_GB, nodes(), {.tp = 8, .pp = 8}, mesh::GroupKind::pp),
         Algorithm::direct, 0, 5, 2000);
  // pp 16 on two nodes: one message crosses at a time, and it has no more than its device's NIC
  expect(cost_of(plan::Op::send_recv, 0.1_GB, nodes(), {.pp = 16}, mesh::GroupKind::pp),
         Algorithm::direct, 0, 5, 2000);
}

TEST(Innermost, UsesTheFirstLevelOnly) {
  const mesh::Span inner = innermost(span_on(nodes(), kCourse, mesh::GroupKind::world));
  // 63 steps of 1 us, 63/64 x 0.8 GB / 450 GB/s
  expect(estimate_collective_cost(plan::Op::all_gather, 0.8_GB, inner, nodes(), round_constants()),
         Algorithm::ring, 63, 0, 63 * 800e6 / 64 / 450e3);
}

TEST(Innermost, KeepsGroupsThatAreAlreadyInside) {
  const mesh::Span tp = span_on(nodes(), kCourse, mesh::GroupKind::tp);
  for (const plan::Op op : kOps)
    EXPECT_EQ(estimate_collective_time(op, 1.0_GB, innermost(tp), nodes(), round_constants()),
              estimate_collective_time(op, 1.0_GB, tp, nodes(), round_constants()));
}

TEST(Shared, IsSlowerByTheNumberOfKinds) {
  const mesh::Span dp = span_on(nodes(), kCourse, mesh::GroupKind::dp);
  const auto wire = [&](const mesh::Span& span) {
    return estimate_collective_cost(plan::Op::all_gather, 0.8_GB, span, nodes(), round_constants())
        .wire.value;
  };
  EXPECT_NEAR(wire(shared(dp, 2)), 2 * wire(dp), 1e-12);
  EXPECT_NEAR(wire(shared(dp, 3, 1)), 3 * wire(dp), 1e-12);
  EXPECT_EQ(shared(dp, 1), dp);
  const mesh::Span tp = span_on(nodes(), kCourse, mesh::GroupKind::tp);
  EXPECT_EQ(wire(shared(tp, 2, 1)), wire(tp));  // tp does not use those links
}

struct Draw {
  cluster::Cluster cluster = nodes();
  plan::Op op{};
  mesh::Span span{};
  Bytes size{};
  cluster::Calibration constants = round_constants();

  CollectiveCost cost() const {
    return estimate_collective_cost(op, size, span, cluster, constants);
  }
  Seconds time() const { return cost().time; }
};

Draw draw() {
  Draw d;
  const plan::Plan plan{.tp = sample::one_of({1, 2, 4, 8, 16}), .dp = 4};
  d.cluster.device.generation = sample::coin() ? "hopper" : "";
  d.cluster.levels[1].bandwidth = BytesPerSecond{1e9 * double(sample::one_of({1, 10, 50, 400}))};
  if (sample::coin()) d.cluster.levels[1].per = cluster::Level::Per::domain;
  d.op = kOps[std::size_t(sample::one_of({0, 1, 2, 3, 4}))];
  const i64 kind = sample::one_of({0, 1, 2});
  d.span = span_on(d.cluster, plan,
                   kind == 0   ? mesh::GroupKind::tp
                   : kind == 1 ? mesh::GroupKind::dp
                               : mesh::GroupKind::world);
  d.size = Bytes{std::exp2(double(*rc::gen::inRange<i64>(0, 320)) / 10)};
  d.constants[cluster::Constant::link_share] = 0.785;
  return d;
}

RC_GTEST_PROP(CollectiveCost, NeverDecreasesWithLessBandwidth, ()) {
  Draw fast = draw(), slow = fast;
  cluster::Level& level = slow.cluster.levels[1];
  level.bandwidth = level.bandwidth / 3;
  RC_ASSERT(slow.time() >= fast.time());
}

RC_GTEST_PROP(CollectiveCost, NeverDecreasesWithMoreLatencyOrSharing, ()) {
  const Draw alone = draw();
  Draw loaded = alone, late = alone;
  loaded.span = shared(alone.span, *rc::gen::inRange<i64>(1, 9), int(sample::one_of({0, 1})));
  late.cluster.levels[0].latency = 20.0_us;
  RC_ASSERT(loaded.time() >= alone.time());
  RC_ASSERT(late.time() >= alone.time());
}

RC_GTEST_PROP(CollectiveCost, NeverDecreasesWithSize, ()) {
  const Draw small = draw();
  Draw large = small;
  large.size = 2 * small.size;
  RC_ASSERT(large.time() >= small.time());
  RC_ASSERT(large.time().value <= 2 * small.time().value * (1 + 1e-12));  // latency is paid once
}

RC_GTEST_PROP(CollectiveCost, IsAtLeastTheTimeOnTheFastestLink, ()) {
  // A rank sends the message at least once, with a reducing switch or in a tree of two.
  const Draw d = draw();
  const Bytes min =
      d.op == plan::Op::all_reduce ? d.size : count_wire_bytes(d.op, d.size, d.span.size);
  const BytesPerSecond fastest =
      std::max(d.cluster.levels[0].bandwidth, d.cluster.levels[1].bandwidth);
  if (d.span.size > 1) RC_ASSERT(d.time() >= min / fastest);
}

RC_GTEST_PROP(CollectiveCost, IsThatOfTheFastestAlgorithm, ()) {
  const Draw d = draw();
  std::optional<CollectiveCost> best;
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    const std::optional<CollectiveCost> one =
        estimate_collective_cost(d.op, d.size, d.span, d.cluster, d.constants, Algorithm(a));
    if (one && (!best || one->time < best->time)) best = one;
  }
  RC_ASSERT(best.has_value() == (d.span.size > 1));
  if (best) RC_ASSERT(best->time == d.time() && best->algorithm == d.cost().algorithm);
}

/// Computes the formulas on two levels: n members, m of them per node, each with a NIC.
double by_hand(i64 n, i64 m, double size, bool switches) {
  const double N = double(n) / double(m), in = 450e3 * 0.785, out = 50e3 * double(m);
  const double deep = std::ceil(std::log2(N)), f = n == 2 * m ? 1 : 2;
  const double slowest = n > m ? std::min(in, out) : in;
  const double across = n > m ? f / out : 0;
  double best =
      total(2 * double(m - 1), 10 * (N - 1), 2 * double(n - 1) / double(n) * size / slowest);
  if (n > m) {
    const double stages = double(m - 1) / double(m) / in + (N - 1) / N / out;
    best = std::min(best, total(2 * double(m - 1), 10 * (N - 1), 2 * size * stages));
  }
  best = std::min(
      best, total(2 * double(m - 1), 10 * deep, size * std::max((n == 2 ? 1 : 2) / in, across)));
  if (switches && m >= 5)
    best = std::min(best, total(double(m + 1), 10 * deep, size * std::max(1 / (0.8 * in), across)));
  return best;
}

RC_GTEST_PROP(CollectiveCost, AllReduceIsTheMinimumOfFourFormulas, ()) {
  Draw d;
  const i64 n = sample::one_of({2, 3, 4, 5, 6, 7, 8, 16, 32, 64});
  const bool switches = sample::coin();
  d.op = plan::Op::all_reduce;
  d.constants[cluster::Constant::link_share] = 0.785;
  d.cluster.device.generation = switches ? "hopper" : "ampere";
  d.span = span_on(d.cluster, {.dp = n}, mesh::GroupKind::dp);
  d.size = Bytes{std::exp2(double(*rc::gen::inRange<i64>(0, 320)) / 10)};
  const double expected = by_hand(n, std::min<i64>(n, 8), d.size.value, switches);
  RC_ASSERT(std::abs(d.time().value * 1e6 - expected) <= 1e-9 * expected);
}

/// Two hosts with four ranks each on probed CPUs.
cluster::Cluster cpu_hosts() {
  cluster::Cluster cluster;
  cluster.device = {.memory_bandwidth = 3.0_GBps, .generation = "cpu"};
  cluster.levels = {{.name = "host", .arity = 4, .bandwidth = 1.0_GBps, .latency = 100.0_us},
                    {.name = "network",
                     .arity = 2,
                     .bandwidth = 0.05_GBps,
                     .latency = 300.0_us,
                     .per = cluster::Level::Per::domain}};
  return cluster;
}

Seconds on_cpus(plan::Op op, Bytes size, const plan::Plan& plan, mesh::GroupKind kind) {
  const cluster::Cluster cluster = cpu_hosts();
  return estimate_collective_time(op, size, span_on(cluster, plan, kind), cluster,
                                  catalog::probed_calibration());
}

TEST(CollectiveCost, CpusUseAnMpiRing) {
  // All 8 ranks: each of two rounds passes 2 * 3 hops inside the hosts and 1 between them,
  // 2 * (6 * 100 + 300) us = 1.8 ms. 8 MB: 2 * 7/8 * 8 MB / 50 MB/s = 280 ms, and every rank adds
  // 7 MB to its own, 21 MB at 3 GB/s = 7 ms.
  EXPECT_NEAR(on_cpus(plan::Op::all_reduce, 8.0_MB, {.dp = 8}, mesh::GroupKind::dp).value, 0.2888,
              1e-12);
  // An all-gather takes one round and adds nothing: 0.9 + 140 ms.
  EXPECT_NEAR(on_cpus(plan::Op::all_gather, 8.0_MB, {.dp = 8}, mesh::GroupKind::dp).value, 0.1409,
              1e-12);
}

TEST(CollectiveCost, CpuGroupsShareTheHostLink) {
  // Groups with one rank per host: four of them on a link of 50 MB/s. 300 us + 1/2 * 8 MB * 4 / 50
  // MB/s.
  const plan::Plan plan{.tp = 4, .dp = 2};
  EXPECT_NEAR(on_cpus(plan::Op::all_gather, 8.0_MB, plan, mesh::GroupKind::dp).value, 0.3203,
              1e-12);
  // Inside a host every rank has its own link: 3 * 100 us + 3/4 * 8 MB / 1 GB/s.
  EXPECT_NEAR(on_cpus(plan::Op::all_gather, 8.0_MB, plan, mesh::GroupKind::tp).value, 0.0063,
              1e-12);
  EXPECT_NEAR(on_cpus(plan::Op::send_recv, 8.0_MB, plan, mesh::GroupKind::tp).value, 0.0081, 1e-12);
}

}  // namespace collective_test
}  // namespace rankwright::cost
