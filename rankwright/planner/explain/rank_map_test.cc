#include "rankwright/planner/explain/rank_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <numeric>
#include <set>

#include "tests/support/golden.h"
#include "tests/support/sample.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace rank_map_test {

void visit(const MapDomain& domain, const std::function<void(const MapDomain&)>& call) {
  call(domain);
  for (const MapDomain& below : domain.domains) visit(below, call);
}

const MapGroups& find_groups(const RankMap& map, mesh::GroupKind kind) {
  for (const MapGroups& groups : map.groups)
    if (groups.kind == kind) return groups;
  throw std::out_of_range("no such groups");
}

i64 count_devices(const RankMap& map, bool idle) {
  i64 devices = 0;
  for (const MapDevice& device : map.devices)
    if ((device.rank < 0) == idle) devices += device.stands_for;
  return devices;
}

TEST(RankMap, OneRank_HasNoGroups) {
  const RankMap map = make_rank_map(config_of("{world_size: 1, cluster: dgx-h100}"));
  EXPECT_EQ(count_devices(map, false), 1);
  EXPECT_EQ(count_devices(map, true), 7);
  EXPECT_TRUE(map.groups.empty());
}

// 64 ranks: tp 8 inside a node, then dp 2, then pp 4, so node 2p + d holds dp d of pp rank p. There
// are 64 / 8 = 8 tensor-parallel groups, 64 / 4 = 16 pipelines and 64 / 2 = 32 pairs of replicas.
TEST(RankMap, SmallCluster_ShowsEveryRank) {
  const RankMap map = make_rank_map(
      config_of("{world_size: 64, parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}}"));
  EXPECT_FALSE(map.folded);
  ASSERT_EQ(map.devices.size(), 64u);
  ASSERT_EQ(map.root.domains.size(), 8u);
  for (const MapDomain& node : map.root.domains) {
    EXPECT_EQ(node.count, 1);
    EXPECT_EQ(node.devices.size(), 8u);
  }
  EXPECT_EQ(find_groups(map, mesh::GroupKind::tp).groups, 8);
  EXPECT_EQ(find_groups(map, mesh::GroupKind::pp).groups, 16);
  EXPECT_EQ(find_groups(map, mesh::GroupKind::dp).groups, 32);
  // Ranks 3, 19, 35 and 51 are one pipeline; ranks 3 and 11 are replicas.
  const std::vector<i64>& pipelines = find_groups(map, mesh::GroupKind::pp).of_device;
  EXPECT_EQ(pipelines[3], pipelines[51]);
  EXPECT_NE(pipelines[3], pipelines[11]);
  const std::vector<i64>& replicas = find_groups(map, mesh::GroupKind::dp).of_device;
  EXPECT_EQ(replicas[3], replicas[11]);
  EXPECT_NE(replicas[3], replicas[19]);
}

// tp 8 fills a node. dp 128 then spans 128 nodes, once per pp rank, so 16 nodes are drawn, each for
// 128.
TEST(RankMap, LargeCluster_FoldsReplicasFirst) {
  const RankMap map = make_rank_map(config_of(
      "{cluster: dgx-h100 x 2048, parallelism: {tp_size: 8, dp_size: 128, pp_size: 16}}"));
  EXPECT_TRUE(map.folded);
  EXPECT_EQ(map.devices.size(), 128u);
  ASSERT_EQ(map.root.domains.size(), 16u);
  for (const MapDomain& node : map.root.domains) EXPECT_EQ(node.count, 128);
  EXPECT_EQ(map.root.domains[1].index, 128);
  EXPECT_EQ(count_devices(map, false), 16384);
  golden::expect("planner/rank-map-words.txt", map.words + "\n");
  // A node is one tensor-parallel group; a pipeline is the same slot of every node; all replicas of
  // a box are in the box.
  const MapGroups& tensor = find_groups(map, mesh::GroupKind::tp);
  EXPECT_EQ(tensor.of_device[0], tensor.of_device[7]);
  EXPECT_NE(tensor.of_device[0], tensor.of_device[8]);
  const MapGroups& pipelines = find_groups(map, mesh::GroupKind::pp);
  EXPECT_EQ(pipelines.of_device[0], pipelines.of_device[8]);
  EXPECT_NE(pipelines.of_device[0], pipelines.of_device[1]);
  const std::vector<i64>& replicas = find_groups(map, mesh::GroupKind::dp).of_device;
  EXPECT_EQ(std::set<i64>(replicas.begin(), replicas.end()).size(), 128u);
}

// Two nodes, with ranks on the first only.
TEST(RankMap, IdleDevices_AreShown) {
  const RankMap map = make_rank_map(
      config_of("{world_size: 8, cluster: dgx-h100 x 2, parallelism: {tp_size: 8}}"), 16);
  EXPECT_EQ(count_devices(map, true), 8);
  ASSERT_FALSE(map.groups.empty());
  for (const MapGroups& groups : map.groups)
    for (std::size_t k = 0; k < map.devices.size(); ++k)
      EXPECT_EQ(groups.of_device[k] < 0, map.devices[k].rank < 0);
}

/// Checks that every device of the cluster is drawn or represented once, and that domains have all
/// their children.
void expect_whole(const plan::TrainingConfig& config, const RankMap& map) {
  RC_ASSERT(count_devices(map, false) == config.world);
  RC_ASSERT(count_devices(map, true) == config.cluster.devices() - config.world);
  std::vector<std::size_t> seen;
  visit(map.root, [&](const MapDomain& domain) {
    seen.insert(seen.end(), domain.devices.begin(), domain.devices.end());
    i64 below = 0;
    for (const MapDomain& one : domain.domains) below += one.count;
    if (domain.level > 0)
      RC_ASSERT(below == config.cluster.levels[std::size_t(domain.level)].arity);
  });
  std::vector<std::size_t> all(map.devices.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  RC_ASSERT(seen == all);
}

/// Checks drawn ranks: those in one group of the plan are in one group of the map; without folding,
/// also the reverse.
void expect_groups(const plan::TrainingConfig& config, const RankMap& map) {
  for (const MapGroups& groups : map.groups) {
    const mesh::GroupShape shape =
        make_group_shape(config.plan.meshes(), groups.kind, config.plan.shards());
    for (std::size_t a = 0; a < map.devices.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        if (map.devices[a].rank < 0 || map.devices[b].rank < 0) continue;
        const bool together = find_group_base(shape, map.devices[a].rank) ==
                              find_group_base(shape, map.devices[b].rank);
        const bool drawn = groups.of_device[a] == groups.of_device[b];
        RC_ASSERT(drawn || !together);
        if (!map.folded) RC_ASSERT(together == drawn);
      }
  }
}

/// Replaces the cluster with three levels that hold all ranks, and possibly more, whether or not
/// groups align with them.
void set_random_levels(rankwright::plan::TrainingConfig& config) {
  const i64 inner = sample::one_of({1, 2, 3, 4, 8}), middle = sample::one_of({1, 2, 3, 5});
  config.cluster.levels = {{.name = "inner", .arity = inner},
                           {.name = "middle", .arity = middle},
                           {.name = "outer", .arity = ceil_div(config.world, inner * middle)}};
}

RC_GTEST_PROP(RankMap, RandomCluster_IsCompleteAndKeepsGroupsTogether, ()) {
  rankwright::plan::TrainingConfig config = sample::random_config();
  set_random_levels(config);
  const i64 max = *rc::gen::element<i64>(1, 4, 16, 64, 512);
  const RankMap map = make_rank_map(config, max);
  expect_whole(config, map);
  expect_groups(config, map);
  if (max >= i64(config.cluster.devices())) RC_ASSERT(!map.folded);
}

}  // namespace rank_map_test
}  // namespace rankwright::planner
