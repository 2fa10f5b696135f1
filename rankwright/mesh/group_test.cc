#include "rankwright/mesh/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/support/enumeration.h"

namespace rankwright::mesh {
namespace group_test {

using ::testing::ElementsAre;

/// Megatron-LM's groups of 16 ranks: TP=CP=DP=PP=2, ETP=1, EP=4.
MeshPair sixteen(std::string_view order) {
  const Order axes = parse_order(order).value();
  return {.dense = {.tp = 2, .cp = 2, .dp = 2, .pp = 2, .order = axes},
          .expert = {.tp = 1, .ep = 4, .dp = 2, .pp = 2, .order = axes}};
}

std::vector<i64> first(const MeshPair& meshes, GroupKind kind, i64 shard_size = 1) {
  return list_group_members(make_group_shape(meshes, kind, shard_size), 0);
}

TEST(Groups, DefaultOrder_MatchesMegatron) {
  const MeshPair meshes = sixteen("tp-cp-ep-dp-pp");
  EXPECT_THAT(first(meshes, GroupKind::tp), ElementsAre(0, 1));
  EXPECT_THAT(first(meshes, GroupKind::cp), ElementsAre(0, 2));
  EXPECT_THAT(first(meshes, GroupKind::dp), ElementsAre(0, 4));
  EXPECT_THAT(first(meshes, GroupKind::pp), ElementsAre(0, 8));
  EXPECT_THAT(first(meshes, GroupKind::dp_cp), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(first(meshes, GroupKind::model), ElementsAre(0, 1, 8, 9));
  EXPECT_THAT(first(meshes, GroupKind::ep), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first(meshes, GroupKind::etp), ElementsAre(0));
  EXPECT_THAT(first(meshes, GroupKind::edp), ElementsAre(0, 4));
}

TEST(Groups, PipelineBeforeDataOrder_MatchesMegatron) {
  const MeshPair meshes = sixteen("tp-cp-ep-pp-dp");
  EXPECT_THAT(first(meshes, GroupKind::dp), ElementsAre(0, 8));
  EXPECT_THAT(first(meshes, GroupKind::pp), ElementsAre(0, 4));
  EXPECT_THAT(first(meshes, GroupKind::dp_cp), ElementsAre(0, 2, 8, 10));
}

TEST(Groups, AnyMember_FindsTheLowestRank) {
  // Rank 13 of the default order: tp 1, cp 0, dp 1, pp 1.
  const MeshPair meshes = sixteen("tp-cp-ep-dp-pp");
  const GroupShape shape = make_group_shape(meshes, GroupKind::dp_cp, 1);
  EXPECT_EQ(find_group_base(shape, 13), 9);
  EXPECT_THAT(list_group_members(shape, 13), ElementsAre(9, 11, 13, 15));
}

TEST(GroupShape, SingleRank_HasNoExtents) {
  for (std::size_t k = 0; k < kGroupKinds; ++k) {
    const GroupShape shape = make_group_shape({}, GroupKind(k), 1);
    EXPECT_EQ(shape.used, 0) << name(GroupKind(k));
    EXPECT_EQ(shape.size(), 1);
    EXPECT_THAT(list_group_members(shape, 0), ElementsAre(0));
  }
}

std::vector<Extent> extents(const MeshPair& meshes, GroupKind kind) {
  const GroupShape shape = make_group_shape(meshes, kind, 1);
  return {shape.begin(), shape.end()};
}

TEST(GroupShape, ContiguousExtents_AreMerged) {
  const MeshPair near = sixteen("tp-cp-ep-dp-pp");
  EXPECT_THAT(extents(near, GroupKind::dp_cp), ElementsAre(Extent{2, 4}));
  EXPECT_THAT(extents(near, GroupKind::world), ElementsAre(Extent{1, 16}));
  const MeshPair far = sixteen("tp-cp-ep-pp-dp");
  EXPECT_THAT(extents(far, GroupKind::dp_cp), ElementsAre(Extent{2, 2}, Extent{8, 2}));
}

TEST(GroupKind, EveryKind_HasAUniqueName) {
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < kGroupKinds; ++k) names.insert(name(GroupKind(k)));
  EXPECT_EQ(names.size(), kGroupKinds);
  EXPECT_EQ(name(GroupKind::dp_cp), "dp-cp");
  EXPECT_EQ(name(GroupKind::replicate), "replicate");
  EXPECT_EQ(name(GroupKind::edp), "edp");
  EXPECT_EQ(name(GroupKind::world), "world");
}

TEST(Shard, SplitsTheGroupInRankOrder) {
  // dp-cp is [0, 2, 4, 6]: shards [0, 2] and [4, 6], and the group that joins them is [0, 4].
  const MeshPair meshes = sixteen("tp-cp-ep-dp-pp");
  EXPECT_THAT(first(meshes, GroupKind::shard, 1), ElementsAre(0));
  EXPECT_THAT(first(meshes, GroupKind::replicate, 1), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(first(meshes, GroupKind::shard, 2), ElementsAre(0, 2));
  EXPECT_THAT(first(meshes, GroupKind::replicate, 2), ElementsAre(0, 4));
  EXPECT_THAT(first(meshes, GroupKind::shard, 4), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(first(meshes, GroupKind::replicate, 4), ElementsAre(0));
}

TEST(Shard, ValidSizes_SplitAllGroupsEqually) {
  // cp 6 inside, tp 2, dp 4 outside: 24 members, 6 adjacent at a time.
  const MeshPair apart{.dense = {.tp = 2, .cp = 6, .dp = 4, .order = *parse_order("cp-tp-dp")},
                       .expert = {.dp = 48}};
  const std::vector<i64> good{1, 2, 3, 6, 12, 24};
  for (i64 size = -1; size <= 48; ++size)
    EXPECT_EQ(valid_shard_size(apart, size), std::count(good.begin(), good.end(), size) == 1)
        << size;
  // Next to each other, cp and dp are 24 consecutive steps: every divisor is valid.
  const MeshPair together{.dense = {.tp = 2, .cp = 6, .dp = 4}, .expert = {.dp = 48}};
  for (i64 size = -1; size <= 48; ++size)
    EXPECT_EQ(valid_shard_size(together, size), divides(size, 24)) << size;
}

TEST(Shard, InvalidSize_Aborts) {
  EXPECT_DEATH(make_group_shape(sixteen("tp-cp-ep-dp-pp"), GroupKind::shard, 3),
               "valid_shard_size");
  EXPECT_DEATH(make_group_shape(sixteen("tp-cp-ep-dp-pp"), GroupKind::replicate, 8),
               "valid_shard_size");
}

RC_GTEST_PROP(Shard, ShardsAndReplicas_PartitionEveryDpCpGroup, ()) {
  const MeshPair meshes = enumeration::random_meshes(*rc::gen::inRange<i64>(1, 300));
  const i64 size = enumeration::random_divisor(meshes.dense.dp * meshes.dense.cp);
  RC_PRE(valid_shard_size(meshes, size));
  const GroupShape shard = make_group_shape(meshes, GroupKind::shard, size);
  const GroupShape replicate = make_group_shape(meshes, GroupKind::replicate, size);
  std::size_t members = 0;
  for (const auto& whole : enumeration::groups(meshes.dense, {Axis::dp, Axis::cp})) {
    members += whole.size();
    const std::size_t n = whole.size(), cut = std::size_t(size);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<i64> neighbors, replicas;
      for (std::size_t j = 0; j < n; ++j) {
        if (j / cut == i / cut) neighbors.push_back(whole[j]);
        if (j % cut == i % cut) replicas.push_back(whole[j]);
      }
      RC_ASSERT(list_group_members(shard, whole[i]) == neighbors);
      RC_ASSERT(list_group_members(replicate, whole[i]) == replicas);
    }
  }
  RC_ASSERT(i64(members) == meshes.dense.size());
}

/// Returns whether every group of every kind matches enumeration, seen from each of its members: so
/// groups partition the ranks, membership is symmetric, and members ascend.
bool matches_enumeration(const MeshPair& meshes) {
  for (const enumeration::KindAxes& kind : enumeration::kinds()) {
    const GroupShape shape = make_group_shape(meshes, kind.kind, 1);
    const std::vector<std::vector<i64>> groups = enumeration::groups(meshes, kind);
    if (groups.empty()) return false;
    for (const std::vector<i64>& members : groups) {
      if (shape.size() != i64(members.size())) return false;
      for (const i64 rank : members)
        if (find_group_base(shape, rank) != members.front() ||
            list_group_members(shape, rank) != members)
          return false;
    }
  }
  return true;
}

TEST(Groups, EveryOrder_MatchesEnumeration) {
  MeshPair meshes{.dense = {.tp = 2, .cp = 3, .dp = 4, .pp = 2},
                  .expert = {.tp = 2, .ep = 6, .dp = 2, .pp = 2}};
  Order order = kDefaultOrder;
  int orders = 0;
  do {
    ++orders;
    meshes.dense.order = meshes.expert.order = order;
    EXPECT_TRUE(matches_enumeration(meshes)) << show(order);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 120);  // 5 x 4 x 3 x 2
}

RC_GTEST_PROP(Groups, RandomMeshes_MatchEnumeration, ()) {
  RC_ASSERT(matches_enumeration(enumeration::random_meshes(*rc::gen::inRange<i64>(1, 200))));
}

RC_GTEST_PROP(GroupShape, Extents_AreSortedAndFullyMerged, ()) {
  const MeshPair meshes = enumeration::random_meshes(*rc::gen::inRange<i64>(1, 5000));
  for (const enumeration::KindAxes& kind : enumeration::kinds()) {
    i64 covered = 1;
    for (const Extent& extent : make_group_shape(meshes, kind.kind, 1)) {
      RC_ASSERT(extent.count > 1);
      RC_ASSERT(extent.stride % covered == 0);
      RC_ASSERT(extent.stride > covered || covered == 1);
      covered = extent.stride * extent.count;
    }
    RC_ASSERT(meshes.dense.size() % covered == 0);
  }
}

}  // namespace group_test
}  // namespace rankwright::mesh
