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

}  // namespace job_test
}  // namespace rankwright::rules
