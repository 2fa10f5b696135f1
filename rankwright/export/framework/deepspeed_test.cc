#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "rankwright/export/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/round_trip.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace deepspeed_test {

using Json = nlohmann::json;

const Exporter& deepspeed() { return *find_exporter("deepspeed"); }

std::string export_text(const std::string& plan) {
  return export_plan(deepspeed(), config_of(plan)).front().text;
}

TEST(DeepspeedExport, Zero3_WritesBatchAndStage) {
  // 32 data ranks; 256 sequences = microbatch 2 x 32 ranks x 4 accumulation steps.
  const Json config =
      Json::parse(export_text("model: llama-3.1-8b\ncluster: dgx-h100 x 4\n"
                              "parallelism: {dp_size: 32, zero_stage: 3, micro_batch: 2}\n"
                              "job: {global_batch: 256, grad_dtype: fp32}\n"));
  EXPECT_EQ(config["train_batch_size"], 256);
  EXPECT_EQ(config["train_micro_batch_size_per_gpu"], 2);
  EXPECT_EQ(config["gradient_accumulation_steps"], 4);
  EXPECT_EQ(config["zero_optimization"], Json::parse(R"({"stage": 3, "overlap_comm": true})"));
  EXPECT_EQ(config["bf16"]["enabled"], true);
  EXPECT_EQ(config["data_types"]["grad_accum_dtype"], "fp32");
}

// The embedding's shard has 128,256 x 4,096 / 8 elements, fewer than the 1e8 of a buffer.
TEST(DeepspeedExport, Nvme_WritesPathAndBuffers) {
  const Json zero = Json::parse(
      export_text("model: llama-3.1-8b\ncluster: dgx-h100\n"
                  "parallelism: {dp_size: 8, zero_stage: 3, offload: {optimizer: true, parameters: "
                  "true, nvme: all, nvme_path: '/mnt/\"a'}}\n"))["zero_optimization"];
  EXPECT_EQ(zero["offload_optimizer"],
            Json::parse(R"({"device": "nvme", "nvme_path": "/mnt/\"a", "pin_memory": true})"));
  EXPECT_EQ(zero["offload_param"],
            Json::parse(R"({"device": "nvme", "nvme_path": "/mnt/\"a", "pin_memory": true,
                            "buffer_size": 100000000})"));
  EXPECT_EQ(zero["sub_group_size"], 100'000'000);
}

TEST(DeepspeedExport, Pipeline_IsReportedAsSetInCode) {
  const std::string text = export_text(
      "model: llama-3.2-1b\nworld_size: 8\n"
      "parallelism: {pp_size: 2, dp_size: 4, zero_stage: 1, recompute: full}\n");
  // The comment names DeepSpeed's version and the two stages that code must set.
  golden::expect("export/deepspeed-pipeline.txt", text);
  EXPECT_EQ(Json::parse(text)["pipeline"]["activation_checkpoint_interval"], 1);
}

RC_GTEST_PROP(DeepspeedExport, RandomPlan_ReadsBackExceptForListedLosses, ()) {
  round_trip::hold(deepspeed());
}

}  // namespace deepspeed_test
}  // namespace rankwright::exporter
