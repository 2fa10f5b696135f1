#include "rankwright/report/page/cluster_labels.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
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
  std::string text = "per device, oversubscribed: " + describe_link(level) + "\n";
  level.oversubscription = 1;
  level.per = cluster::Level::Per::domain;
  text += "per domain: " + describe_link(level) + "\n";
  golden::expect("report/cluster-links.txt", text);
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
  // Rank 19 = 16 x pp 1 + 8 x dp 0 + tp 3; a device that represents four has three more like it.
  golden::expect("report/cluster-devices.txt",
                 describe_device(config, {.device = 19, .rank = 19}) + "\n" +
                     describe_device(config, {.device = 19, .rank = 19, .stands_for = 4}) + "\n" +
                     describe_device(config, {.device = 1000}) + "\n");
}

}  // namespace cluster_labels_test
}  // namespace rankwright::report
