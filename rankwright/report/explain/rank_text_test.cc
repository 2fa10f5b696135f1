#include "rankwright/report/explain/rank_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace rank_text_test {

using ::testing::HasSubstr;

const std::string kPipeline =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {pp_size: 4, dp_size: 2, ";
const std::string kMirror = kPipeline + "schedule: dualpipe}\n";  // 64 / 2 = 32 microbatches

TEST(RankText, LargeGroup_ListsTheFirstAndTheLast) {
  const rankwright::plan::TrainingConfig config =
      config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 4\nparallelism: {dp_size: 32}\n");
  EXPECT_THAT(render_rank_text(config, planner::make_rank_view(config, 17), {}),
              HasSubstr("0 1 2 ... 31\n"));
}

TEST(RankText, NamesPreviousAndNextRanks) {
  const rankwright::plan::TrainingConfig vee =
      config_of(kPipeline + "virtual_stages: 2, schedule: zb-v}\n");
  EXPECT_THAT(render_rank_text(vee, planner::make_rank_view(vee, 0), {}),
              HasSubstr("receives from 2, sends to 2\n"));
  const rankwright::plan::TrainingConfig line = config_of(kPipeline + "schedule: 1f1b}\n");
  EXPECT_THAT(render_rank_text(line, planner::make_rank_view(line, 0), {}),
              HasSubstr("receives from none, sends to 2"));
}

TEST(RankText, ListsTheLayersOfItsStages) {
  // 16 layers in 8 stages of 2. pp rank 1 has stages 1 and 5 in a loop, and stages 1 and 6 in a
  // V.
  const rankwright::plan::TrainingConfig loop =
      config_of(kPipeline + "virtual_stages: 2, schedule: interleaved-1f1b}\n");
  EXPECT_THAT(render_rank_text(loop, planner::make_rank_view(loop, 2), {}),
              HasSubstr("  stage 1      layers 2 to 3\n  stage 5      layers 10 to 11\n"));
  const rankwright::plan::TrainingConfig vee =
      config_of(kPipeline + "virtual_stages: 2, schedule: zb-v}\n");
  EXPECT_THAT(render_rank_text(vee, planner::make_rank_view(vee, 2), {}),
              HasSubstr("  stage 1      layers 2 to 3\n  stage 6      layers 12 to 13\n"));
  EXPECT_THAT(render_rank_text(vee, planner::make_rank_view(vee, 0), {}),
              HasSubstr("  stage 0      embedding, layers 0 to 1\n"
                        "  stage 7      layers 14 to 15, output head and loss\n"));
}

TEST(RankText, DualPipe_ListsTwoStagesAndTheirMicrobatches) {
  // pp ranks 0 to 3 are ranks 0 2 4 6 (dp 0); 16 layers in 4 stages.
  const rankwright::plan::TrainingConfig config = config_of(kMirror);
  EXPECT_THAT(render_rank_text(config, planner::make_rank_view(config, 2), {}),
              HasSubstr("  stage 1      layers 4 to 7; microbatches 0 to 15\n"
                        "  stage 2      layers 8 to 11; microbatches 16 to 31\n"
                        "  pipeline     receives from 0 and 4, sends to 0 and 4\n"));
  EXPECT_THAT(
      render_rank_text(config, planner::make_rank_view(config, 6), {}),
      HasSubstr("  stage 0      embedding, layers 0 to 3; microbatches 16 to 31\n"
                "  stage 3      layers 12 to 15, output head and loss; microbatches 0 to 15\n"
                "  pipeline     receives from 4, sends to 4\n"));
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
  EXPECT_EQ(json["stages"][0]["microbatches"], 32);
  EXPECT_EQ(json["stages"][0]["sends_to"], 7);
  EXPECT_EQ(json["groups"][0]["group"], "pp");
  EXPECT_EQ(json["groups"][0]["members"], (nlohmann::json{1, 3, 5, 7}));
}

}  // namespace rank_text_test
}  // namespace rankwright::report
