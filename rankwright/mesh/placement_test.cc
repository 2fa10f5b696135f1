#include "rankwright/mesh/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "tests/support/enumeration.h"

namespace rankwright::mesh {
namespace placement_test {

using Kind = Placement::Kind;

cluster::Cluster cluster_of(const std::vector<i64>& arities) {
  cluster::Cluster cluster;
  for (const i64 arity : arities) cluster.levels.push_back({.name = "", .arity = arity});
  return cluster;
}

/// Returns by level the domain of each device, by walking the tree leaf by leaf.
std::vector<std::vector<i64>> list_domains(const cluster::Cluster& cluster) {
  std::vector<std::vector<i64>> by_level;
  i64 size = 1;
  for (const cluster::Level& level : cluster.levels) {
    size *= level.arity;
    by_level.emplace_back();
    for (i64 domain = 0; i64(by_level.back().size()) < cluster.devices(); ++domain)
      by_level.back().insert(by_level.back().end(), std::size_t(size), domain);
  }
  return by_level;
}

/// Computes a Span directly from its definition.
Span enumerate_span(const enumeration::Groups& groups, const Placement& placement,
                    const cluster::Cluster& cluster) {
  Span span;
  span.size = i64(groups.front().size());
  std::vector<std::vector<i64>> by_level = list_domains(cluster);
  std::vector<i64> devices(by_level[0].size());
  std::iota(devices.begin(), devices.end(), 0);
  by_level.insert(by_level.begin(), devices);  // below level 0 each device is its own domain
  for (std::size_t k = 0; k < by_level.size(); ++k) {
    i64 max = 0, min = span.size;
    std::map<i64, i64> crossing;  // by domain
    for (const std::vector<i64>& group : groups) {
      std::map<i64, i64> members;  // by domain
      for (const i64 rank : group) ++members[by_level[k][std::size_t(placement.device(rank))]];
      for (const auto& [domain, n] : members) {
        max = std::max(max, n);
        min = std::min(min, n);
        if (members.size() > 1) ++crossing[domain];
      }
    }
    if (k > 0) span.inside[k - 1] = max;
    if (k > 0) span.min[k - 1] = min;
    if (k + 1 == by_level.size()) break;
    for (const auto& [domain, n] : crossing) span.sharers[k] = std::max(span.sharers[k], n);
    if (span.sharers[k] > 0) span.level = int(k);
  }
  return span;
}

TEST(Placement, Block_FillsHostsOneAfterAnother) {
  EXPECT_EQ(Placement{}.device(17), 17);
  EXPECT_EQ(Placement{}.rank(17), 17);
}

TEST(Placement, Cyclic_PlacesRanksRoundRobin) {
  // Ranks 0 1 2 | 3 4 5 | ... go to hosts 0 1 2; rank 7 is the third (slot 2) on host 1.
  const Placement cyclic{.kind = Kind::cyclic, .host_devices = 4, .hosts = 3};
  EXPECT_EQ(cyclic.device(0), 0);
  EXPECT_EQ(cyclic.device(1), 4);
  EXPECT_EQ(cyclic.device(2), 8);
  EXPECT_EQ(cyclic.device(3), 1);
  EXPECT_EQ(cyclic.device(7), 4 + 2);
}

TEST(Placement, Listed_UsesTheList) {
  const Placement listed{.kind = Kind::listed, .devices = {5, 0, 1}};
  EXPECT_EQ(listed.device(0), 5);
  EXPECT_EQ(listed.rank(0), 1);
  EXPECT_EQ(listed.rank(3), -1);  // idle
}

/// Returns a random permutation of 0 .. n-1.
std::vector<i64> random_devices(i64 n) {
  std::vector<i64> devices(std::size_t(n), 0);
  std::iota(devices.begin(), devices.end(), 0);
  for (std::size_t i = devices.size(); i > 1; --i)
    std::swap(devices[i - 1], devices[*rc::gen::inRange<std::size_t>(0, i)]);
  return devices;
}

Placement random_placement(i64 world, i64 devices) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0: {  // spare devices stay idle
      std::vector<i64> some = random_devices(devices);
      some.resize(std::size_t(world));
      return {.kind = Kind::listed, .devices = std::move(some)};
    }
    case 1: {  // the last host may have spare devices
      const i64 host_devices = *rc::gen::inRange<i64>(1, 9);
      const i64 hosts = ceil_div(world, host_devices);
      if (hosts * host_devices <= devices)
        return {.kind = Kind::cyclic, .host_devices = host_devices, .hosts = hosts};
      return {.kind = Kind::cyclic, .host_devices = 1, .hosts = world};
    }
    default:
      return {};
  }
}

RC_GTEST_PROP(Placement, Rank_IsTheInverseOfDevice, ()) {
  const i64 world = *rc::gen::inRange<i64>(1, 100);
  const Placement placement = random_placement(world, 2 * world);
  std::vector<i64> used;
  for (i64 rank = 0; rank < world; ++rank) {
    RC_ASSERT(placement.rank(placement.device(rank)) == rank);
    used.push_back(placement.device(rank));
  }
  std::sort(used.begin(), used.end());
  RC_ASSERT(std::adjacent_find(used.begin(), used.end()) == used.end());
}

TEST(Span, TpInsideANode_CrossesOnlyNvlink) {
  // 64 ranks, tp 8 pp 4 dp 2 in nodes of 8.
  const cluster::Cluster nodes = cluster_of({8, 8});
  const MeshPair meshes{.dense = {.tp = 8, .dp = 2, .pp = 4}, .expert = {}};
  const Span tp = span(make_group_shape(meshes, GroupKind::tp, 1), 64, {}, nodes);
  EXPECT_EQ(tp, (Span{.inside = {8, 8}, .min = {8, 8}, .sharers = {1, 0}, .level = 0, .size = 8}));
  // The other groups have one member per node, and all 8 groups of a node share its uplink.
  const Span pp = span(make_group_shape(meshes, GroupKind::pp, 1), 64, {}, nodes);
  EXPECT_EQ(pp, (Span{.inside = {1, 4}, .min = {1, 4}, .sharers = {1, 8}, .level = 1, .size = 4}));
}

TEST(Span, GroupsOfOne_CrossNothing) {
  const Span alone = span({}, 64, {}, cluster_of({8, 8}));
  EXPECT_EQ(alone,
            (Span{.inside = {1, 1}, .min = {1, 1}, .sharers = {0, 0}, .level = -1, .size = 1}));
}

TEST(Span, CyclicPlacement_ScattersTp) {
  // srun --distribution=cyclic on 8 nodes: adjacent ranks are on different nodes.
  const Placement cyclic{.kind = Kind::cyclic, .host_devices = 8, .hosts = 8};
  const MeshPair meshes{.dense = {.tp = 8, .dp = 8}, .expert = {}};
  const Span tp = span(make_group_shape(meshes, GroupKind::tp, 1), 64, cyclic, cluster_of({8, 8}));
  EXPECT_EQ(tp, (Span{.inside = {1, 8}, .min = {1, 8}, .sharers = {1, 8}, .level = 1, .size = 8}));
}

TEST(Span, Tp16InDomainsOf72_IsUneven) {
  // 144 ranks: groups 0-3 are in the first domain, 4 (ranks 64-79) is half in each, 5-8 in the
  // second. One group crosses.
  const MeshPair meshes{.dense = {.tp = 16, .dp = 9}, .expert = {}};
  const Span tp = span(make_group_shape(meshes, GroupKind::tp, 1), 144, {}, cluster_of({72, 2}));
  EXPECT_EQ(tp,
            (Span{.inside = {16, 16}, .min = {8, 16}, .sharers = {1, 1}, .level = 1, .size = 16}));
  EXPECT_FALSE(tp.uniform(2));
  const Span dp = span(make_group_shape(meshes, GroupKind::dp, 1), 144, {}, cluster_of({72, 2}));
  // Members 0 16 .. 128: five in the first domain if the rank is below 8, else four.
  EXPECT_EQ(dp, (Span{.inside = {5, 9}, .min = {4, 9}, .sharers = {1, 16}, .level = 1, .size = 9}));
}

TEST(Span, UnusedHost_MovesGroupsToOtherDomains) {
  // Racks of 2 hosts with 2 devices each. With all hosts, dp 2 of tp 2 stays in a rack; without
  // host 1, its second half is in the next rack.
  const cluster::Cluster cluster = cluster_of({2, 2, 2});
  const MeshPair meshes{.dense = {.tp = 2, .dp = 2}, .expert = {}};
  const GroupShape dp = make_group_shape(meshes, GroupKind::dp, 1);
  EXPECT_EQ(span(dp, 4, {}, cluster).level, 1);
  const Placement around{.kind = Kind::listed, .devices = {0, 1, 4, 5}};
  EXPECT_EQ(span(dp, 4, around, cluster).level, 2);
  EXPECT_EQ(span(make_group_shape(meshes, GroupKind::tp, 1), 4, around, cluster).level, 0);
}

TEST(Span, Uniform_ChecksOnlyTheGivenLevels) {
  const Span uneven{.inside = {2, 4}, .min = {2, 3}, .sharers = {}, .level = 1, .size = 4};
  EXPECT_TRUE(uneven.uniform(1));
  EXPECT_FALSE(uneven.uniform(2));
}

RC_GTEST_PROP(Span, MatchesEnumeration, ()) {
  std::vector<i64> arities(*rc::gen::inRange<std::size_t>(1, 5));
  const i64 widest = arities.size() > 2 ? 6 : 13;
  for (i64& arity : arities) arity = *rc::gen::inRange<i64>(1, widest);
  const cluster::Cluster cluster = cluster_of(arities);
  const bool full = *rc::gen::arbitrary<bool>();
  const i64 world = full ? cluster.devices() : *rc::gen::inRange<i64>(1, cluster.devices() + 1);
  const MeshPair meshes = enumeration::random_meshes(world);
  const Placement placement = random_placement(world, cluster.devices());
  for (const enumeration::KindAxes& kind : enumeration::kinds()) {
    const Span expected = enumerate_span(enumeration::groups(meshes, kind), placement, cluster);
    const Span found = span(make_group_shape(meshes, kind.kind, 1), world, placement, cluster);
    RC_ASSERT(found == expected);
  }
}

RC_GTEST_PROP(Span, BlockPlacement_MatchesTheEqualListedPlacement, ()) {
  // The closed form and its shortcuts against counting, on clusters too large to enumerate.
  std::vector<i64> arities(*rc::gen::inRange<std::size_t>(1, 6));
  for (i64& arity : arities) arity = *rc::gen::element<i64>(1, 2, 2, 3, 4, 6, 8);
  const cluster::Cluster cluster = cluster_of(arities);
  const i64 world = enumeration::random_divisor(cluster.devices());
  const MeshPair meshes = enumeration::random_meshes(world);
  Placement listed{.kind = Kind::listed};
  for (i64 rank = 0; rank < world; ++rank) listed.devices.push_back(rank);
  for (const enumeration::KindAxes& kind : enumeration::kinds()) {
    const GroupShape shape = make_group_shape(meshes, kind.kind, 1);
    RC_ASSERT(span(shape, world, {}, cluster) == span(shape, world, listed, cluster));
  }
}

TEST(Span, MoreRanksThanDevices_Aborts) {
  EXPECT_DEATH(span({}, 65, {}, cluster_of({8, 8})), "devices");
}

TEST(LevelBetween, ReturnsTheInnermostLevelThatHoldsBoth) {
  const cluster::Cluster cluster = cluster_of({8, 4, 2});
  EXPECT_EQ(find_level_between(cluster, 5, 5), -1);
  EXPECT_EQ(find_level_between(cluster, 0, 7), 0);
  EXPECT_EQ(find_level_between(cluster, 7, 8), 1);
  EXPECT_EQ(find_level_between(cluster, 0, 31), 1);
  EXPECT_EQ(find_level_between(cluster, 31, 32), 2);
  EXPECT_DEATH(find_level_between(cluster, 0, 64), "device_a == device_b");
}

RC_GTEST_PROP(LevelBetween, MatchesEnumeration, ()) {
  const cluster::Cluster cluster = cluster_of(*rc::gen::resize(
      4, rc::gen::nonEmpty(rc::gen::container<std::vector<i64>>(rc::gen::inRange<i64>(1, 6)))));
  const auto by_level = list_domains(cluster);
  const i64 a = *rc::gen::inRange<i64>(0, cluster.devices());
  const i64 b = *rc::gen::inRange<i64>(0, cluster.devices());
  int expected = a == b ? -1 : 0;
  while (expected >= 0 && by_level[std::size_t(expected)][std::size_t(a)] !=
                              by_level[std::size_t(expected)][std::size_t(b)])
    ++expected;
  RC_ASSERT(find_level_between(cluster, a, b) == expected);
}

}  // namespace placement_test
}  // namespace rankwright::mesh
