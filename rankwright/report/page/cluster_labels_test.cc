#include "rankwright/report/page/cluster_labels.h"

#include <gmock/gmock.h>

#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace cluster_labels_test {

using ::testing::Each;
using ::testing::ElementsAre;

const std::string kCourse = "{world_size: 64, parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}}";

TEST(DeviceColors, FollowPpRanksIfThereIsAPipeline) {
  const rankwright::plan::TrainingConfig config = config_of(kCourse);
  const DeviceColors colors = choose_device_colors(config, planner::make_rank_map(config));
  EXPECT_TRUE(colors.by_stage);
  EXPECT_EQ(colors.colors, 4);
  // tp is innermost, then dp, then pp: 16 ranks per stage.
  for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(colors.of_device[k], i64(k / 16));
}

TEST(DeviceColors, FollowTheFirstGroupsWithoutAPipeline) {
  const rankwright::plan::TrainingConfig config =
      config_of("{world_size: 16, parallelism: {tp_size: 4, dp_size: 4}}");
  const DeviceColors colors = choose_device_colors(config, planner::make_rank_map(config));
  EXPECT_EQ(colors.kind, "tp");
  EXPECT_EQ(colors.colors, 4);
  EXPECT_EQ(colors.of_device[5], 1);
}

TEST(DeviceColors, OneRank_OneColorAndIdleDevices) {
  const rankwright::plan::TrainingConfig config = config_of("{world_size: 1, cluster: dgx-h100}");
  const DeviceColors colors = choose_device_colors(config, planner::make_rank_map(config));
  EXPECT_EQ(colors.kind, "");
  EXPECT_EQ(colors.of_device.front(), 0);
  EXPECT_EQ(colors.of_device.back(), -1);
}

TEST(DomainLabel, NamesLevelStagesAndNumberOfEqualDomains) {
  // 2,048 nodes, of which the 128 of a pp rank are equal.
  const rankwright::plan::TrainingConfig config = config_of(
      "{model: llama-3.1-405b, cluster: dgx-h100 x 2048, parallelism: {tp_size: 8, pp_size: 16, "
      "dp_size: 128}, job: {global_batch: 2048}}");
  const planner::RankMap map = planner::make_rank_map(config);
  const DeviceColors colors = choose_device_colors(config, map);
  const DomainLabel second = make_domain_label(config.cluster, map.root.domains[1], colors);
  EXPECT_EQ(second.name, "nvlink 128");
  EXPECT_EQ(second.stages, "pp 1");
  EXPECT_EQ(second.times, "x 128");
  const DomainLabel root = make_domain_label(config.cluster, map.root, colors);
  EXPECT_EQ(root.name, "infiniband");  // there is only one
  EXPECT_EQ(root.stages + root.times, "");
}

TEST(DomainLabel, ListsTheStagesThatShareADomain) {
  const rankwright::plan::TrainingConfig config =
      config_of("{world_size: 8, parallelism: {tp_size: 2, pp_size: 4}}");
  const planner::RankMap map = planner::make_rank_map(config);
  EXPECT_EQ(
      make_domain_label(config.cluster, map.root.domains[0], choose_device_colors(config, map))
          .stages,
      "pp 0-3");
}

TEST(DescribeLink, SaysWhetherBandwidthIsPerDeviceOrDomain) {
  cluster::Level level{.name = "spine", .bandwidth = 50.0_GBps, .oversubscription = 2};
  EXPECT_EQ(describe_link(level), "50 GB/s a device, 2 : 1 oversubscribed");
  level.oversubscription = 1;
  level.per = cluster::Level::Per::domain;
  EXPECT_EQ(describe_link(level), "50 GB/s a domain");
}

TEST(TimesInDomain, AreOneUnlessAnInnermostDomainIsFolded) {
  const rankwright::plan::TrainingConfig config = config_of(kCourse);
  EXPECT_THAT(count_in_domain(planner::make_rank_map(config)), Each(1));
  // One device represents all 64, eight in its own domain.
  const planner::RankMap folded = planner::make_rank_map(config, 1);
  EXPECT_THAT(count_in_domain(folded), ElementsAre(8));
}

TEST(DescribeDevice, NamesTheCoordinatesOfARank) {
  const rankwright::plan::TrainingConfig config = config_of(kCourse);
  EXPECT_EQ(describe_device(config, {.device = 19, .rank = 19}),
            "rank 19 on device 19: tp 3 dp 0 pp 1");
  EXPECT_EQ(describe_device(config, {.device = 19, .rank = 19, .stands_for = 4}),
            "rank 19 on device 19: tp 3 dp 0 pp 1, and 3 more like it");
  EXPECT_EQ(describe_device(config, {.device = 1000}), "device 1,000: idle");
}

}  // namespace cluster_labels_test
}  // namespace rankwright::report
