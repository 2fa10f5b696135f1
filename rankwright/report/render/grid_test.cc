#include "rankwright/report/render/grid.h"

#include <gmock/gmock.h>

#include <sstream>

#include "rankwright/report/render/table.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace grid_test {

using ::testing::HasSubstr;

const std::string kModel = "model: llama-3.2-1b\n";

TEST(RankGrid, DrawsNodesSideBySide) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel +
                "cluster: dgx-h100 x 2\n"
                "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2}\n");
  EXPECT_EQ(draw_rank_grid(config, {}, 80),
            "  node 0 · pp 0 · dp 0-1        node 1 · pp 1 · dp 0-1\n"
            "  +--------------------------+  +--------------------------+\n"
            "  |  0  1  2  3   4  5  6  7 |  |  8  9 10 11  12 13 14 15 |\n"
            "  +--------------------------+  +--------------------------+\n");
}

TEST(RankGrid, StacksNodesOnANarrowTerminal) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel + "cluster: dgx-h100 x 2\nparallelism: {dp_size: 16}\n");
  EXPECT_EQ(draw_rank_grid(config, {}, 40),
            "  node 0 · dp 0-7\n"
            "  +-------------------------+\n"
            "  |  0  1  2  3  4  5  6  7 |\n"
            "  +-------------------------+\n"
            "  node 1 · dp 8-15\n"
            "  +-------------------------+\n"
            "  |  8  9 10 11 12 13 14 15 |\n"
            "  +-------------------------+\n");
}

TEST(RankGrid, ShowsExcludedHostsAsIdle) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel +
                "cluster: dgx-h100 x 3\nworld_size: 16\n"
                "parallelism: {tp_size: 8}\nplacement: {hosts: [0, 2]}\n");
  EXPECT_EQ(draw_rank_grid(config, {}, 40),
            "  node 0 · dp 0\n"
            "  +-------------------------+\n"
            "  |  0  1  2  3  4  5  6  7 |\n"
            "  +-------------------------+\n"
            "  node 1 · idle\n"
            "  +-------------------------+\n"
            "  |                         |\n"
            "  +-------------------------+\n"
            "  node 2 · dp 1\n"
            "  +-------------------------+\n"
            "  |  8  9 10 11 12 13 14 15 |\n"
            "  +-------------------------+\n");
}

TEST(RankGrid, DrawsLinesAndColorsByPpRankOnATerminal) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel + "cluster: dgx-h100 x 1\nworld_size: 2\nparallelism: {pp_size: 2}\n");
  EXPECT_EQ(draw_rank_grid(config, {.on = true}, 80),
            "  \033[1mnode 0 · pp 0-1\033[0m\n"
            "  ┌─────────────┐\n"
            "  │ \033[36m0\033[0m\033[33m 1\033[0m         │\n"
            "  └─────────────┘\n");
}

TEST(RankGrid, DrawsOnlyExistingRanks) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel + "cluster: dgx-h100 x 1\nworld_size: 3\nparallelism: {dp_size: 3}\n");
  EXPECT_EQ(draw_rank_grid(config, {}, 80),
            "  node 0 · dp 0-2\n"
            "  +-------------+\n"
            "  | 0 1 2       |\n"
            "  +-------------+\n");
}

TEST(RankGrid, FoldsARackIntoLinesOfEight) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel + "cluster: gb200-nvl72 x 1\nparallelism: {dp_size: 72}\n");
  const std::string picture = draw_rank_grid(config, {}, 80);
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n'), 9 + 3);
  EXPECT_THAT(picture, HasSubstr("  | 64 65 66 67 68 69 70 71 |\n"));
}

TEST(RankGrid, ShowsCyclicPlacement) {
  const rankwright::plan::TrainingConfig config =
      config_of(kModel +
                "cluster: dgx-h100 x 2\nplacement: cyclic\n"
                "parallelism: {tp_size: 2, dp_size: 8}\n");
  // Rank r is on host r mod 2: even ranks are on node 0, and no node holds two ranks of one
  // tensor-parallel group.
  const std::string picture = draw_rank_grid(config, {}, 120);
  EXPECT_THAT(picture, HasSubstr("|  0   2   4   6   8  10  12  14 |"));
  EXPECT_THAT(picture, HasSubstr("|  1   3   5   7   9  11  13  15 |"));
}

TEST(RankGrid, DrawsTheFirstOfManyNodesAndCountsTheRest) {
  // Sixteen nodes are all drawn; six of seventeen are drawn, and 11 are counted.
  const std::string plan = kModel + "parallelism: {dp_size: ";
  const rankwright::plan::TrainingConfig sixteen =
      config_of(plan + "128}\ncluster: dgx-h100 x 16\n");
  const rankwright::plan::TrainingConfig seventeen =
      config_of(plan + "136}\ncluster: dgx-h100 x 17\n");
  golden::expect("report/rank-grid-many-nodes.txt",
                 draw_rank_grid(sixteen, {}, 120) + "\n" + draw_rank_grid(seventeen, {}, 120));
}

TEST(RankGrid, StaysWithinTheWidthAndAligns) {
  const rankwright::plan::TrainingConfig config = config_of(
      kModel + "cluster: dgx-h100 x 8\nparallelism: {tp_size: 4, pp_size: 2, dp_size: 8}\n");
  for (const std::size_t width : {72u, 100u, 120u, 160u}) {
    std::istringstream lines(draw_rank_grid(config, {}, width));
    int many = 0;
    for (std::string line; std::getline(lines, line); ++many)
      EXPECT_LE(display_width(line), width) << line;
    EXPECT_GT(many, 0) << width;
  }
}

}  // namespace grid_test
}  // namespace rankwright::report
