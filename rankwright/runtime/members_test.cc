#include "rankwright/runtime/members.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/sample.h"

namespace rankwright::runtime {
namespace members_test {

constexpr i64 kNone = -1;

TEST(Members, EdgesAndMirror_ArePairs) {
  // dp 2 x pp 4: rank = dp + 2 pp. Row 1 is ranks 1 3 5 7.
  const plan::Plan plan{.dp = 2, .pp = 4};
  using Ranks = std::vector<i64>;
  EXPECT_EQ(members(plan, mesh::GroupKind::pp, 3), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(members(plan, mesh::GroupKind::edges, 1), (Ranks{1, 7}));
  EXPECT_EQ(members(plan, mesh::GroupKind::edges, 3), (Ranks{3}));
  EXPECT_EQ(members(plan, mesh::GroupKind::edges, 7), (Ranks{1, 7}));
  EXPECT_EQ(members(plan, mesh::GroupKind::mirror, 5), (Ranks{3, 5}));
}

TEST(Members, NoPartner_IsTheRankItself) {
  EXPECT_EQ(members({.dp = 4}, mesh::GroupKind::edges, 2), std::vector<i64>{2});
  EXPECT_EQ(members({.pp = 3}, mesh::GroupKind::mirror, 1), std::vector<i64>{1});
}

RC_GTEST_PROP(Members, AnyMember_SeesTheSameGroup, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_config();
  const plan::Plan& plan = config.plan;
  const i64 rank = *rc::gen::inRange<i64>(0, plan.ranks());
  for (std::size_t k = 0; k < mesh::kGroupKinds; ++k) {
    const mesh::GroupKind kind = mesh::GroupKind(k);
    const std::vector<i64> mine = members(plan, kind, rank);
    RC_ASSERT(std::is_sorted(mine.begin(), mine.end()));
    RC_ASSERT(std::count(mine.begin(), mine.end(), rank) == 1);
    for (const i64 other : mine) RC_ASSERT(members(plan, kind, other) == mine);
  }
}

TEST(LevelAcross, AnyMembers_IsTheOutermostBetweenAnyTwo) {
  // Hosts of 2 devices, racks of 2 hosts: devices 0 1 | 2 3 || 4 5 | 6 7.
  rankwright::plan::TrainingConfig config = sample::dense_config({.dp = 8});
  config.cluster.levels = {
      {.name = "host", .arity = 2}, {.name = "rack", .arity = 2}, {.name = "net", .arity = 2}};
  EXPECT_EQ(find_level_across(config, {5}), kNone);
  EXPECT_EQ(find_level_across(config, {2, 3}), 0);
  EXPECT_EQ(find_level_across(config, {1, 2}), 1);
  EXPECT_EQ(find_level_across(config, {0, 1, 7}), 2);
  // In this listed placement ranks 0 and 2 share a host, and rank 1 is on the next one.
  config.plan.placement = {.kind = mesh::Placement::Kind::listed,
                           .devices = {7, 5, 6, 4, 3, 2, 1, 0}};
  EXPECT_EQ(find_level_across(config, {0, 2}), 0);
  EXPECT_EQ(find_level_across(config, {0, 1}), 1);
}

}  // namespace members_test
}  // namespace rankwright::runtime
