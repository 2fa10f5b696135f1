#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <sstream>

#include "rankwright/export/exporter.h"
#include "rankwright/export/framework/megatron_settings.h"
#include "tests/support/any_config.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace megatron_bridge_test {

using ::testing::HasSubstr;
using ::testing::Not;

const Exporter& bridge() { return *find_exporter("megatron-bridge"); }

std::string export_text(const rankwright::plan::TrainingConfig& config) {
  return export_plan(bridge(), config).front().text;
}

TEST(MegatronBridgeExport, Layout_SetsTheFieldsOfARecipe) {
  const std::string text = export_text(config_of(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, virtual_stages: 2}\n"
      "job: {global_batch: 128, sequence: 8192, grad_dtype: fp32}\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.model.tensor_model_parallel_size = 8\n"
                              "    cfg.model.sequence_parallel = True\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.model.virtual_pipeline_model_parallel_size = 2\n"
                              "    cfg.model.pipeline_model_parallel_layout = None\n"));
  EXPECT_THAT(text, HasSubstr("        bf16=True,\n        params_dtype=torch.bfloat16,\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.train.global_batch_size = 128\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.model.num_query_groups = 8\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.model.share_embeddings_and_output_weights = False\n"));
}

TEST(MegatronBridgeExport, UnevenStages_AreQuotedAndUnusedFeaturesTurnedOff) {
  const std::string text = export_text(config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100\nworld_size: 8\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 1, stages: [7, 9, 9, 7], overlap: {tp: "
      "true}}\n"));
  EXPECT_THAT(text, HasSubstr("pipeline_model_parallel_layout = \"Et*7|t*9|t*9|t*7L\"\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.ddp.use_megatron_fsdp = False\n"));
  EXPECT_THAT(text, Not(HasSubstr("tp_comm_overlap=True")));
  // The head lists parallelism.overlap.tp.
  golden::expect("export/megatron-bridge-uneven-stages.txt", text);
}

TEST(MegatronBridgeExport, OverlappedExperts_AreStated) {
  const std::string text = export_text(config_of(
      "model: qwen3-30b-a3b\ncluster: dgx-h100\nworld_size: 8\n"
      "parallelism: {dp_size: 8, ep_size: 8, zero_stage: 1, dispatcher: deepep, "
      "overlap: {ep: true, wgrad: true}}\nsoftware: {framework: nemo, release: 25.09}\n"));
  EXPECT_THAT(text, HasSubstr("        overlap_moe_expert_parallel_comm=True,\n"
                              "        delay_wgrad_compute=True,\n"));
  EXPECT_THAT(text, HasSubstr("    cfg.model.moe_enable_deepep = True\n"));
}

/// Returns the values of lines "    cfg.a.b = value", by field. Fails if a function sets a field
/// twice.
std::map<std::string, std::string> fields_of(const std::string& text) {
  std::map<std::string, std::string> fields;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.rfind("    cfg.", 0) != 0 || equals == std::string::npos) continue;
    const bool first = fields.emplace(line.substr(8, equals - 8), line.substr(equals + 3)).second;
    RC_ASSERT(first);
  }
  return fields;
}

RC_GTEST_PROP(MegatronBridgeExport, RandomPlan_SetsTheValuesOfMegatronsFlags, ()) {
  const rankwright::plan::TrainingConfig config = any_config::random_config();
  const std::map<std::string, std::string> fields = fields_of(export_text(config));
  constexpr std::pair<std::string_view, const char*> kSame[] = {
      {"tensor-model-parallel-size", "model.tensor_model_parallel_size"},
      {"pipeline-model-parallel-size", "model.pipeline_model_parallel_size"},
      {"context-parallel-size", "model.context_parallel_size"},
      {"expert-model-parallel-size", "model.expert_model_parallel_size"},
      {"expert-tensor-parallel-size", "model.expert_tensor_parallel_size"},
      {"num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size"},
      {"num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances"},
      {"recompute-num-layers", "model.recompute_num_layers"},
      {"micro-batch-size", "train.micro_batch_size"},
      {"global-batch-size", "train.global_batch_size"},
      {"seq-length", "model.seq_length"}};
  constexpr std::pair<std::string_view, const char*> kSwitches[] = {
      {"overlap-grad-reduce", "ddp.overlap_grad_reduce"},
      {"overlap-param-gather", "ddp.overlap_param_gather"},
      {"use-distributed-optimizer", "ddp.use_distributed_optimizer"},
      {"use-megatron-fsdp", "ddp.use_megatron_fsdp"},
      {"use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping"}};
  std::map<std::string_view, std::string> flags;
  for (const MegatronSetting& row : list_megatron_layout(config)) flags[row.flag] = row.value;
  for (const auto& [flag, field] : kSame)
    if (flags.count(flag) > 0) RC_ASSERT(fields.at(field) == flags[flag]);
  for (const auto& [flag, field] : kSwitches)
    RC_ASSERT(fields.at(field) == (flags.count(flag) > 0 ? "True" : "False"));
}

}  // namespace megatron_bridge_test
}  // namespace rankwright::exporter
