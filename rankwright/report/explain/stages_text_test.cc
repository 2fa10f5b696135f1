#include "rankwright/report/explain/stages_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace stages_text_test {

using testing::HasSubstr;

rankwright::plan::TrainingConfig make_deepseek_config() {
  return config_of(
      "model: deepseek-v3\ncluster: dgx-h100 x 16\n"
      "parallelism: {pp_size: 16, dp_size: 8, ep_size: 8, zero_stage: 1}\n"
      "job: {global_batch: 512, sequence: 4096}\n");
}

std::string write_stages(const rankwright::plan::TrainingConfig& config) {
  return render_stages_text(config, planner::make_stages_view(config), {}, 100);
}

TEST(StagesText, SaysThatASplitIsAlreadyEven) {
  // 126 layers on 16 ranks: 14 x 8 + 2 x 7. No split has a busiest rank with fewer than 8
  // layers.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-405b\ncluster: dgx-h100 x 16\n"
      "parallelism: {tp_size: 8, pp_size: 16}\njob: {global_batch: 64, sequence: 8192}\n");
  golden::expect("report/stages-even.txt", write_stages(config));
}

TEST(StagesText, ProposesFewerLayersBesideTheHead) {
  const rankwright::plan::TrainingConfig config = make_deepseek_config();
  const std::string layout = show_layout(planner::make_stages_view(config).best.stages);
  const std::string text = write_stages(config);
  EXPECT_THAT(text, HasSubstr("parallelism: {stages: \"" + layout + "\"}"));
  EXPECT_THAT(text, HasSubstr("--pipeline-model-parallel-layout \"" + layout + "\""));
  golden::expect("report/stages-uneven.txt", text);
}

TEST(StagesText, FindsTorchtitansSettings) {
  // 32 layers on 8 ranks, and a head worth 2.1 layers. The last rank takes two layers fewer, and
  // the other 30 are spread: no split is better than 5 5 4 4 4 4 4 2.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100\nparallelism: {pp_size: 8}\n"
      "job: {global_batch: 64, sequence: 8192}\n");
  EXPECT_THAT(write_stages(config), HasSubstr("pipeline_parallel_last_stage_less_layers = "));
}

TEST(StagesJson, AgreesWithTheText) {
  const rankwright::plan::TrainingConfig config = make_deepseek_config();
  const planner::StagesView view = planner::make_stages_view(config);
  const nlohmann::json json = nlohmann::json::parse(make_stages_json(config, view));
  EXPECT_EQ(json["schema"], "rankwright.stages/1");
  EXPECT_EQ(json["ranks"].size(), 16U);
  EXPECT_EQ(json["best"]["layout"], show_layout(view.best.stages));
  EXPECT_EQ(json["best"]["proved"], true);
  EXPECT_FALSE(json["best"].contains("torchtitan"));
}

}  // namespace stages_text_test
}  // namespace rankwright::report
