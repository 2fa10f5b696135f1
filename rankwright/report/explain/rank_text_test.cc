#include "rankwright/report/explain/rank_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace rank_text_test {

const std::string kPipeline =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {pp_size: 4, dp_size: 2, ";
const std::string kMirror = kPipeline + "schedule: dualpipe}\n";  // 64 / 2 = 32 microbatches

/// Writes the rank's text up to the memory estimate, which explain/course-64-rank-17.txt has.
std::string write_rank(const std::string& plan, i64 rank) {
  const rankwright::plan::TrainingConfig config = config_of(plan);
  const std::string text = render_rank_text(config, planner::make_rank_view(config, rank), {});
  return text.substr(0, text.find("\nmemory of pp rank "));
}

TEST(RankText, LargeGroup_ListsTheFirstAndTheLast) {
  golden::expect(
      "report/rank-large-group.txt",
      write_rank("model: llama-3.2-1b\ncluster: dgx-h100 x 4\nparallelism: {dp_size: 32}\n", 17));
}

TEST(RankText, NamesPreviousAndNextRanks) {
  // pp ranks 0 to 3 are ranks 0 2 4 6 (dp 0). In a V, rank 0 has the first and the last of 8
  // stages, and receives from rank 2; in a line it has only the first, and receives from none.
  golden::expect("report/rank-neighbors.txt",
                 "zb-v:\n" + write_rank(kPipeline + "virtual_stages: 2, schedule: zb-v}\n", 0) +
                     "\n1f1b:\n" + write_rank(kPipeline + "schedule: 1f1b}\n", 0));
}

TEST(RankText, ListsTheLayersOfItsStages) {
  // 16 layers in 8 stages of 2. pp rank 1 has stages 1 and 5 in a loop, and stages 1 and 6 in a
  // V.
  golden::expect("report/rank-stages.txt",
                 "interleaved-1f1b:\n" +
                     write_rank(kPipeline + "virtual_stages: 2, schedule: interleaved-1f1b}\n", 2) +
                     "\nzb-v:\n" +
                     write_rank(kPipeline + "virtual_stages: 2, schedule: zb-v}\n", 2));
}

TEST(RankText, DualPipe_ListsTwoStagesAndTheirMicrobatches) {
  // pp ranks 0 to 3 are ranks 0 2 4 6 (dp 0); 16 layers in 4 stages. Rank 2 has stages 1 and 2,
  // rank 6 stages 0 and 3, each with half of the 32 microbatches.
  golden::expect("report/rank-dualpipe.txt",
                 "rank 2:\n" + write_rank(kMirror, 2) + "\nrank 6:\n" + write_rank(kMirror, 6));
}

TEST(RankJson, AgreesWithTheText) {
  const rankwright::plan::TrainingConfig config = config_of(kPipeline + "schedule: 1f1b}\n");
  const planner::RankView view = planner::make_rank_view(config, 5);
  const nlohmann::json json = nlohmann::json::parse(make_rank_json(config, view));
  EXPECT_EQ(json["schema"], "rankwright.rank/2");
  EXPECT_EQ(json["rank"], 5);
  EXPECT_EQ(json["world"], 8);
  EXPECT_EQ(json["coordinates"]["dp"], 1);
  EXPECT_EQ(json["coordinates"]["pp"], 2);
  EXPECT_EQ(json["pipeline"]["previous"], 3);
  EXPECT_EQ(json["stages"][0]["first_layer"], 8);
  EXPECT_EQ(json["stages"][0]["microbatches"], 256);
  EXPECT_EQ(json["stages"][0]["sends_to"], 7);
  EXPECT_EQ(json["groups"][0]["group"], "pp");
  EXPECT_EQ(json["groups"][0]["members"], (nlohmann::json{1, 3, 5, 7}));
  // Rank 5 sends each of its 256 microbatches to the next stage, and each gradient back.
  ASSERT_EQ(json["communication"].size(), view.traffic.size());
  EXPECT_EQ(json["communication"][0]["communication"], "PP send/recv forward");
  EXPECT_EQ(json["communication"][0]["calls"], 256);
}

}  // namespace rank_text_test
}  // namespace rankwright::report
