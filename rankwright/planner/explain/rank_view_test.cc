#include "rankwright/planner/explain/rank_view.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace rank_view_test {

using ::testing::ElementsAre;

std::vector<RankView> view_all_ranks(const plan::TrainingConfig& config) {
  std::vector<RankView> views;
  for (i64 rank = 0; rank < config.world; ++rank) views.push_back(make_rank_view(config, rank));
  return views;
}

const RankView::GroupView* find_group(const RankView& view, std::string_view name) {
  for (const RankView::GroupView& g : view.groups)
    if (g.name == name) return &g;
  return nullptr;
}

/// The coordinates that the members of a group share, by kind.
using Key = std::function<std::vector<i64>(const RankView&)>;
const std::map<std::string, Key> kShared{{"tp",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.cp, v.dp, v.pp};
                                          }},
                                         {"cp",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.tp, v.dp, v.pp};
                                          }},
                                         {"dp",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.tp, v.cp, v.pp};
                                          }},
                                         {"pp",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.tp, v.cp, v.dp};
                                          }},
                                         {"dp-cp",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.tp, v.pp};
                                          }},
                                         {"ep",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.etp, v.edp, v.pp};
                                          }},
                                         {"etp",
                                          [](const RankView& v) {
                                            return std::vector<i64>{v.ep, v.edp, v.pp};
                                          }},
                                         {"edp", [](const RankView& v) {
                                            return std::vector<i64>{v.etp, v.ep, v.pp};
                                          }}};

/// Checks every group of every rank against an enumeration by coordinates.
void expect_enumerated_groups(const plan::TrainingConfig& config) {
  const std::vector<RankView> views = view_all_ranks(config);
  ASSERT_EQ(views.size(), 16u);
  for (const RankView& view : views) {
    ASSERT_FALSE(view.groups.empty());
    for (const RankView::GroupView& g : view.groups) {
      const Key& key = kShared.at(g.name);
      std::vector<i64> members;
      for (const RankView& other : views)
        if (key(other) == key(view)) members.push_back(other.rank);
      EXPECT_EQ(g.members, members) << g.name << " of rank " << view.rank;
      EXPECT_EQ(g.size, i64(members.size()));
    }
  }
}

TEST(RankView, Coordinates_FollowTheOrder) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 2\n"
      "parallelism: {tp_size: 2, cp_size: 2, dp_size: 2, pp_size: 2, order: tp-cp-dp-pp}\n");
  const std::vector<RankView> views = view_all_ranks(config);
  ASSERT_EQ(views.size(), 16u);
  for (const RankView& v : views) {
    EXPECT_EQ(v.rank, v.tp + 2 * (v.cp + 2 * (v.dp + 2 * v.pp)));
    EXPECT_EQ(v.device, v.rank);
    EXPECT_EQ(v.host, v.rank / 8);
    EXPECT_EQ(v.slot, v.rank % 8);
  }
}

TEST(RankView, Groups_EqualAnEnumerationByCoordinates) {
  expect_enumerated_groups(config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 2\n"
      "parallelism: {tp_size: 2, cp_size: 2, dp_size: 2, pp_size: 2, order: tp-pp-cp-dp}\n"));
  expect_enumerated_groups(
      config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 2\n"
                "parallelism: {tp_size: 2, dp_size: 4, pp_size: 2, ep_size: 4, etp_size: 1}\n"));
  expect_enumerated_groups(
      config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 2\n"
                "parallelism: {tp_size: 2, dp_size: 8, ep_size: 2, etp_size: 2}\n"));
}

TEST(RankView, HybridSharding_ShardsNeighboringRanks) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100 x 2\n"
      "parallelism: {dp_size: 16, zero_stage: 3, shard_size: 4}\n");
  const RankView view = make_rank_view(config, 6);
  ASSERT_NE(find_group(view, "shard"), nullptr);
  EXPECT_THAT(find_group(view, "shard")->members, ElementsAre(4, 5, 6, 7));
}

TEST(RankView, GroupsOfOneRank_AreLeftOut) {
  const rankwright::plan::TrainingConfig config =
      config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {tp_size: 8}\n");
  const RankView view = make_rank_view(config, 3);
  ASSERT_EQ(view.groups.size(), 1u);
  EXPECT_EQ(view.groups[0].name, "tp");
  EXPECT_EQ(view.previous, -1);
  EXPECT_EQ(view.next, -1);
}

TEST(RankView, LargeGroup_ListsTheFirstAndTheLast) {
  const rankwright::plan::TrainingConfig config =
      config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 4\nparallelism: {dp_size: 32}\n");
  const RankView view = make_rank_view(config, 17);
  ASSERT_NE(find_group(view, "dp"), nullptr);
  EXPECT_TRUE(find_group(view, "dp")->shortened);
  EXPECT_THAT(find_group(view, "dp")->members, ElementsAre(0, 1, 2, 31));
}

const std::string kPipeline =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {pp_size: 4, dp_size: 2, ";

std::vector<std::pair<i64, i64>> list_neighbors(const plan::TrainingConfig& config) {
  std::vector<std::pair<i64, i64>> all;
  for (const i64 rank : {0, 2, 4, 6}) {
    const RankView view = make_rank_view(config, rank);
    all.emplace_back(view.previous, view.next);
  }
  return all;
}

using Pairs = std::vector<std::pair<i64, i64>>;

TEST(PipelineNeighbors, OneChunk_IsALine) {
  EXPECT_EQ(list_neighbors(config_of(kPipeline + "schedule: 1f1b}\n")),
            (Pairs{{-1, 2}, {0, 4}, {2, 6}, {4, -1}}));
}

TEST(PipelineNeighbors, LoopedChunks_AreARing) {
  EXPECT_EQ(
      list_neighbors(config_of(kPipeline + "virtual_stages: 2, schedule: interleaved-1f1b}\n")),
      (Pairs{{6, 2}, {0, 4}, {2, 6}, {4, 0}}));
}

TEST(PipelineNeighbors, VShapedChunks_AreALine) {
  // Down and back up: the last pp rank passes the output of its first chunk to itself.
  const rankwright::plan::TrainingConfig config =
      config_of(kPipeline + "virtual_stages: 2, schedule: zb-v}\n");
  EXPECT_EQ(list_neighbors(config), (Pairs{{-1, 2}, {0, 4}, {2, 6}, {4, -1}}));
}

const std::string kMirror = kPipeline + "schedule: dualpipe}\n";  // 64 / 2 = 32 microbatches

TEST(RankView, DualPipe_NamesTheRankWithTheSameStages) {
  const rankwright::plan::TrainingConfig config = config_of(kMirror);
  const std::vector<RankView> views = view_all_ranks(config);
  ASSERT_EQ(views.size(), 8u);
  for (const RankView& view : views) {
    ASSERT_NE(find_group(view, "mirror"), nullptr);
    const std::vector<i64> members = find_group(view, "mirror")->members;
    ASSERT_EQ(members.size(), 2u);
    EXPECT_THAT(members, ::testing::Contains(view.rank));
    for (const i64 member : members) {
      const RankView other = make_rank_view(config, member);
      EXPECT_EQ(other.dp, view.dp);
      EXPECT_EQ(other.chunks[0].stage, view.chunks[0].stage);
      EXPECT_EQ(other.chunks[1].stage, view.chunks[1].stage);
    }
  }
  const rankwright::plan::TrainingConfig other = config_of(kPipeline + "schedule: 1f1b}\n");
  EXPECT_EQ(find_group(make_rank_view(other, 0), "mirror"), nullptr);
}

TEST(RankView, DualPipe_NamesTheLevelBetweenThePair) {
  // pp 4 on two nodes with dp inside: pp ranks 1 and 2 are on different nodes, and so are 0 and 3.
  // With pp inside dp, every pipeline is in one node.
  const std::string plan =
      "model: llama-3.2-1b\ncluster: dgx-h100 x 2\n"
      "parallelism: {pp_size: 4, dp_size: 4, schedule: dualpipe, order: ";
  const rankwright::plan::TrainingConfig across = config_of(plan + "dp-pp}\n"),
                                         inside = config_of(plan + "pp-dp}\n");
  EXPECT_THAT(find_group(make_rank_view(across, 4), "mirror")->levels,
              ::testing::HasSubstr("infiniband"));
  EXPECT_THAT(find_group(make_rank_view(inside, 1), "mirror")->levels,
              ::testing::HasSubstr("nvlink"));
}

TEST(RankView, Chunks_SendToTheRankOfTheNextStage) {
  // In a V the second chunks run in the opposite direction, and the turn stays on the last rank.
  const rankwright::plan::TrainingConfig v_shape =
      config_of(kPipeline + "virtual_stages: 2, schedule: zb-v}\n");
  const RankView last = make_rank_view(v_shape, 6);
  EXPECT_EQ(last.chunks[0].receives_from, 4);
  EXPECT_EQ(last.chunks[0].sends_to, 6);
  EXPECT_EQ(last.chunks[1].sends_to, 4);
  const rankwright::plan::TrainingConfig line = config_of(kPipeline + "schedule: 1f1b}\n");
  EXPECT_EQ(make_rank_view(line, 0).chunks[0].receives_from, -1);
}

TEST(RankView, EveryLayer_IsOnOnePpRank) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: deepseek-v3\ncluster: dgx-h800 x 16\n"
      "parallelism: {pp_size: 16, dp_size: 8, ep_size: 8, zero_stage: 1}\n");
  std::vector<int> seen(61);
  i64 mtp = 0;
  for (i64 pp = 0; pp < 16; ++pp)
    for (const RankView::Chunk& c : make_rank_view(config, 8 * pp).chunks) {
      for (i64 layer = 0; layer < c.layers; ++layer) ++seen[std::size_t(c.first_layer + layer)];
      mtp += c.mtp;
      EXPECT_EQ(c.embedding, pp == 0);
      EXPECT_EQ(c.loss, pp == 15);
    }
  EXPECT_THAT(seen, ::testing::Each(1));
  EXPECT_EQ(mtp, config.model.mtp_layers);
}

}  // namespace rank_view_test
}  // namespace rankwright::planner
