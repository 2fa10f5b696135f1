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

// gemma-2-2b alternates full attention and windows of 4,096 tokens.
TEST(JobRules, SequenceBeyondTheWindow_IsAnError) {
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 8192}", "gemma-2-2b"), "RW0127");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 4096}", "gemma-2-2b"), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 8192}", "mistral-7b"), "RW0127");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 8192}", "mistral-7b-v0.3"), "");
  EXPECT_EQ(fault_of("dgx-h100", "{sequence: 8192}", "qwen2.5-7b"), "");
}

}  // namespace job_test
}  // namespace rankwright::rules
