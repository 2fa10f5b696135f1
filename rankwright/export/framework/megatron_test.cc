#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/export/exporter.h"
#include "rankwright/export/framework/megatron_settings.h"
#include "tests/support/any_config.h"
#include "tests/support/golden.h"
#include "tests/support/round_trip.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace megatron_test {

using ::testing::HasSubstr;
using ::testing::Not;

const Exporter& megatron() { return *find_exporter("megatron"); }

std::string export_text(const std::string& plan) {
  return export_plan(megatron(), config_of(plan)).front().text;
}

TEST(MegatronExport, InterleavedPlan_WritesItsFlags) {
  const std::string text = export_text(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, virtual_stages: 2}\n"
      "job: {global_batch: 128, sequence: 8192, grad_dtype: fp32}\n");
  EXPECT_THAT(text, HasSubstr("  --tensor-model-parallel-size 8\n  --sequence-parallel\n"));
  EXPECT_THAT(text, HasSubstr("  --num-virtual-stages-per-pipeline-rank 2\n"));
  // The head lists no unsupported settings.
  golden::expect("export/megatron-interleaved.txt", text);
}

TEST(MegatronExport, UnevenStages_AreWrittenAsAQuotedLayout) {
  const std::string text = export_text(
      "model: llama-3.1-8b\ncluster: dgx-h100\nworld_size: 8\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 1, stages: [7, 9, 9, 7]}\n");
  EXPECT_THAT(text, HasSubstr("  --pipeline-model-parallel-layout 'Et*7|t*9|t*9|t*7L'\n"));
}

TEST(MegatronExport, ZeroStage3_WritesMegatronFsdp) {
  const std::string text = export_text(
      "model: llama-3.1-8b\ncluster: dgx-h100\nworld_size: 8\n"
      "parallelism: {dp_size: 8, zero_stage: 3, shard_size: 4}\n");
  EXPECT_THAT(text, HasSubstr("unset CUDA_DEVICE_MAX_CONNECTIONS\n"));
  EXPECT_THAT(text, HasSubstr("  --use-megatron-fsdp\n"
                              "  --data-parallel-sharding-strategy optim_grads_params\n"));
  EXPECT_THAT(text, HasSubstr("  --num-distributed-optimizer-instances 2\n"));  // 8 ranks / 4
}

TEST(MegatronExport, OverlappedExperts_DelayWeightGradientsOnSeveralQueues) {
  const std::string text = export_text(
      "model: qwen3-30b-a3b\ncluster: dgx-h100\nworld_size: 8\n"
      "parallelism: {tp_size: 2, dp_size: 4, ep_size: 4, zero_stage: 1, dispatcher: hybridep, "
      "overlap: {ep: true, wgrad: true}}\n");
  EXPECT_THAT(text, HasSubstr("export CUDA_DEVICE_MAX_CONNECTIONS=32\n"));
  EXPECT_THAT(text, HasSubstr("  --moe-flex-dispatcher-backend hybridep\n"));
  EXPECT_THAT(text, HasSubstr("  --overlap-moe-expert-parallel-comm\n  --delay-wgrad-compute\n"));
}

TEST(MegatronExport, OldRelease_WritesItsOwnFlags) {
  const std::string plan =
      "model: qwen3-30b-a3b\ncluster: dgx-h100\nworld_size: 8\n"
      "parallelism: {dp_size: 8, ep_size: 8, zero_stage: 1, dispatcher: deepep}\n";
  const std::string newest = export_text(plan),
                    old = export_text(plan + "software: {release: 0.15}\n");
  EXPECT_THAT(newest, HasSubstr("  --moe-flex-dispatcher-backend deepep\n"));
  EXPECT_THAT(old, HasSubstr("  --moe-token-dispatcher-type flex\n  --moe-enable-deepep\n"));
  EXPECT_THAT(old, Not(HasSubstr("moe-flex-dispatcher-backend")));
  EXPECT_THAT(export_text(plan + "software: {release: 0.10}\n"),
              Not(HasSubstr("--moe-permute-fusion")));
}

TEST(MegatronExport, DeepSeekV3_WritesLatentAttentionAndLayerPattern) {
  const std::string text = export_text(
      "model: deepseek-v3\ncluster: dgx-h100 x 64\n"
      "parallelism: {tp_size: 1, pp_size: 1, ep_size: 64, dp_size: 512}\n");
  EXPECT_THAT(text, HasSubstr("  --moe-layer-freq '([0]*3+[1]*58)'\n"));
  EXPECT_THAT(text, HasSubstr("  --multi-latent-attention\n  --q-lora-rank 1536\n"));
  EXPECT_THAT(text, HasSubstr("  --moe-router-num-groups 8\n  --moe-router-group-topk 4\n"));
}

TEST(MegatronExport, RecomputedModules_AreWrittenWithARecipeThatAllowsThem) {
  const std::string plan =
      "model: deepseek-v3\ncluster: dgx-h100 x 64\njob: {matmul: fp8}\n"
      "parallelism: {tp_size: 1, pp_size: 1, ep_size: 64, dp_size: 512, recompute: ";
  const std::string some = export_text(plan + "{modules: [layernorm, mla_up_proj]}}\n");
  EXPECT_THAT(some, HasSubstr("  --recompute-granularity selective\n"
                              "  --recompute-modules layernorm mla_up_proj\n"));
  EXPECT_THAT(some, HasSubstr("  --fp8-recipe tensorwise\n"));
  EXPECT_THAT(export_text(plan + "full}\n"), HasSubstr("  --fp8-recipe delayed\n"));
}

TEST(MegatronExport, UnsupportedSettings_AreListedInTheHead) {
  const std::string text = export_text(
      "model: gemma-2-9b\ncluster: dgx-h100\nworld_size: 8\nplacement: cyclic\n"
      "parallelism: {dp_size: 8}\njob: {optimizer: lion}\n");
  EXPECT_THAT(text, Not(HasSubstr("--num-layers")));
  // It lists job.optimizer, model and placement.
  golden::expect("export/megatron-unsupported.txt", text);
}

TEST(MegatronFlag, SpecialCharacters_AreQuoted) {
  EXPECT_EQ(format_flag({"bf16"}), "--bf16");
  EXPECT_EQ(format_flag({"cp-comm-type", "all_gather"}), "--cp-comm-type all_gather");
  EXPECT_EQ(format_flag({"moe-layer-freq", "([0]*1)"}), "--moe-layer-freq '([0]*1)'");
}

/// Returns the differences after export and import; empty if there are none.
std::string find_changes(const rankwright::plan::TrainingConfig& config) {
  Diagnostics findings;
  const rankwright::plan::TrainingConfig again = round_trip::export_and_import(
      megatron(), *importer::find_plan_format("megatron"), config, findings);
  std::string text;
  for (const Diagnostic& finding : findings)
    if (finding.severity == Severity::error) text += finding.detail + "\n";
  return text + round_trip::differences(megatron(), config, again);
}

// At least 300 random plans and at least 300 random plans without violations.
TEST(MegatronExport, RandomPlan_ReadsBackExceptForListedLosses) {
  int tried = 0, with_model = 0;
  const auto law = [&](const rankwright::plan::TrainingConfig& config) {
    if (!find_violations(config).empty()) return;
    ++tried;
    with_model += list_megatron_model(config).empty() ? 0 : 1;
    RC_ASSERT(find_changes(config) == "");
  };
  EXPECT_TRUE(rc::check("any setup", [&] {
    for (int i = 0; i < 20; ++i) law(any_config::random_config());
  }));
  EXPECT_GE(tried, 300);
  const int before = tried;
  EXPECT_TRUE(rc::check("a setup that was made to fit", [&] {
    for (int i = 0; i < 4; ++i) law(sample::random_config());
  }));
  EXPECT_GE(tried - before, 300);
  EXPECT_GE(with_model, 100);
}

}  // namespace megatron_test
}  // namespace rankwright::exporter
