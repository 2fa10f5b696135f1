#include <gmock/gmock.h>

#include "rankwright/export/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace torchtitan_test {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<ExportFile> export_files(const std::string& plan) {
  return export_plan(*find_exporter("torchtitan"), config_of(plan));
}

TEST(TorchtitanPython, PipelinePlan_CountsBatchesInTokensAndInSequences) {
  // 16 ranks = tp 2 x pp 4 x dp 2; 32 sequences = 2 per microbatch x dp 2 x 8 microbatches.
  const std::vector<ExportFile> files = export_files(
      "model: llama-3.1-8b\nworld_size: 16\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, zero_stage: 2, micro_batch: 2, stages: "
      "[7, 9, 9, 7], recompute: full}\n"
      "job: {global_batch: 32, sequence: 8192, grad_dtype: fp32}\n");
  ASSERT_THAT(files, SizeIs(1));
  const std::string& text = files[0].text;
  EXPECT_THAT(text,
              HasSubstr("config.training.num_tokens_per_microbatch_per_dp_rank = 2 * 8192\n"));
  EXPECT_THAT(text, HasSubstr("config.training.num_tokens_per_train_step = 32 * 8192\n"));
  EXPECT_THAT(text, HasSubstr("config.parallelism.num_pp_microbatches = 8\n"));
  // 0.3: 16 sequences per data rank, in microbatches of 2.
  EXPECT_THAT(text, HasSubstr("config.training.local_batch_size = 16\n"));
  EXPECT_THAT(text, HasSubstr("config.training.global_batch_size = 32\n"));
  EXPECT_THAT(text, HasSubstr("config.parallelism.pipeline_parallel_microbatch_size = 2\n"));
  EXPECT_THAT(text, HasSubstr("        module_fqns_per_model_part=[\n"));
  EXPECT_THAT(text, HasSubstr("        fsdp_reshard_after_forward=\"never\",\n"));
  EXPECT_THAT(text, HasSubstr("          [\"tok_embeddings\", \"layers.0\", "));
  EXPECT_THAT(text, HasSubstr("\"layers.31\", \"norm\", \"lm_head\"],\n"));
  EXPECT_THAT(text, HasSubstr("config.activation_checkpoint = FullAC.Config()\n"));
  EXPECT_THAT(text, HasSubstr("    return rankwright_layout(llama3_8b())\n"));
}

TEST(TorchtitanPython, CudaGraphs_AreOffOnlyWhereTheyAreRefused) {
  const std::string common = "model: llama-3.1-8b\nworld_size: 8\n";
  const std::string off = "config.training.disable_cuda_graphs = True\n";
  EXPECT_THAT(export_files(common + "parallelism: {dp_size: 8, zero_stage: 3}\n")[0].text,
              Not(HasSubstr(off)));
  EXPECT_THAT(export_files(common + "parallelism: {pp_size: 4, dp_size: 2, zero_stage: 2}\n"
                                    "job: {global_batch: 16}\n")[0]
                  .text,
              HasSubstr(off));
}

TEST(TorchtitanPython, Bf16Gradients_AreReducedInFloat32AndListedAsLost) {
  const std::string text =
      export_files(
          "model: llama-3.1-8b\nworld_size: 8\nparallelism: {dp_size: 8, zero_stage: 3}\n"
          "job: {grad_dtype: bf16}\n")[0]
          .text;
  EXPECT_THAT(text, HasSubstr("config.training.mixed_precision_reduce = \"float32\"\n"));
  EXPECT_THAT(text, HasSubstr("job.grad_dtype"));
}

TEST(TorchtitanPython, RegistryFunctionWithFloat8_IsUsedWithoutItUnlessThePlanComputesInFp8) {
  const std::string common =
      "model: llama-3.1-405b\nworld_size: 512\n"
      "parallelism: {tp_size: 8, dp_size: 64, zero_stage: 3}\n";
  const std::string without = "config.model_spec = model_registry(\"405B\")";
  EXPECT_THAT(export_files(common)[0].text, HasSubstr(without));
  EXPECT_THAT(export_files(common + "job: {matmul: fp8}\n")[0].text, Not(HasSubstr(without)));
}

TEST(TorchtitanPython, ContextParallelism_GathersKeysAndValues) {
  const std::string common =
      "model: llama-3.1-8b\nworld_size: 8\nparallelism: {cp_size: 2, "
      "dp_size: 4, zero_stage: 3, cp_comm: ";
  EXPECT_THAT(export_files(common + "all_gather}\n")[0].text, Not(HasSubstr("cp_comm")));
  EXPECT_THAT(export_files(common + "p2p}\n")[0].text, HasSubstr("parallelism.cp_comm"));
}

TEST(TorchtitanPython, UnknownModel_IsLeftToTheUser) {
  const std::string text =
      export_files(
          "model: mistral-7b\nworld_size: 8\nparallelism: {dp_size: 8, zero_stage: 3}\n")[0]
          .text;
  EXPECT_THAT(text, Not(HasSubstr("config_registry")));
  // The head lists model, and a comment takes the place of the registry function.
  golden::expect("export/torchtitan-unknown-model.txt", text);
}

}  // namespace torchtitan_test
}  // namespace rankwright::exporter
