// Problems of the job that no layout mends.
#include <gtest/gtest.h>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace job_test {

plan::TrainingConfig read(const std::string& cluster, const std::string& job,
                          const std::string& model = "llama-3.2-1b") {
  const importer::PlanFile file =
      importer::read_plan("model: " + model + "\ncluster: " + cluster + " x 1\njob: " + job +
                              "\nparallelism: {dp_size: 8, order: tp-dp-pp}\n",
                          "plan.yaml", importer::refuse_file);
  EXPECT_FALSE(has_errors(file.findings));
  return resolve(file.draft);
}

std::string fault_of(const std::string& cluster, const std::string& job,
                     const std::string& model = "llama-3.2-1b") {
  const std::optional<Diagnostic> fault = find_job_fault(read(cluster, job, model));
  return fault ? std::string(fault->code) : "";
}

// A100 computes in 16 bits, H100 in fp8, B200 also in mxfp8 and fp4.
TEST(JobRules, FormatThatTheDeviceLacks_IsAnError) {
  EXPECT_EQ(fault_of("dgx-a100", "{sequence: 2048, matmul: fp8}"), "RW0125");
  EXPECT_EQ(fault_of("dgx-a100", "{sequence: 2048, param_dtype: fp8}"), "RW0125");
  EXPECT_EQ(fault_of("dgx-a100", "{sequence: 2048}"), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, matmul: fp8}"), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, matmul: mxfp8}"), "RW0125");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, matmul: fp4}"), "RW0125");
  EXPECT_EQ(fault_of("dgx-b200", "{sequence: 2048, matmul: mxfp8}"), "");
  EXPECT_EQ(fault_of("dgx-b200", "{sequence: 2048, matmul: fp4}"), "");
}

// gemma-2-2b alternates full attention and windows of 4,096 tokens, which the estimate includes.
TEST(JobRules, SequenceBeyondTheWindow_IsNoFault) {
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 8192}", "gemma-2-2b"), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 8192}", "mistral-7b"), "");
}

TEST(JobRules, ContextParallelRecurrence_IsAnError) {
  plan::TrainingConfig config =
      read("dgx-h100", "{sequence: 8192}",
           "{architecture: bamba, hidden: 1024, layers: 8, heads: 16, ffn: 4096, vocab: 32000, "
           "linear_heads: 32, linear_dim: 64, linear_key_heads: 1, linear_key_dim: 128, "
           "linear_conv: 4}");
  EXPECT_FALSE(find_job_fault(config));
  config.plan.cp = 2;
  config.plan.dp = 4;
  const std::optional<Diagnostic> fault = find_job_fault(config);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, "RW0127");
}

TEST(JobRules, FrozenPartsThatLeaveNothing_AreAnError) {
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, frozen: [embedding, layers 0-15, head]}"),
            "RW0209");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, frozen: [embedding, layers 0-14, head]}"), "");
}

// 3 x 576 tokens are less than 2,048, and 4 x 576 more.
TEST(JobRules, ImagesBeyondTheSequence_AreAnError) {
  const std::string model =
      "{architecture: llama, hidden: 2048, layers: 16, heads: 32, ffn: 8192, vocab: 32000, "
      "encoder_parameters: 400000000, encoder_layers: 24, encoder_hidden: 1024, encoder_ffn: 4096, "
      "encoder_heads: 16";
  const std::string sized = model + ", encoder_image_tokens: 576}";
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, images: 3}", sized), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, images: 4}", sized), "RW0210");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, images: 4, image_tokens: 512}", sized), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, images: 1}", model + "}"), "RW0210");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, images: 1}"), "RW0210");  // no encoder
  const std::string audio = model + ", encoder_image_tokens: 750, encoder_audio: true}";
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, clips: 2}", audio), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 2048, clips: 3}", audio), "RW0210");
}

}  // namespace job_test
}  // namespace rankwright::rules
