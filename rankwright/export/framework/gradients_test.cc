// The format of gradients survives export and import, and nothing narrows it silently.
#include <gmock/gmock.h>

#include "rankwright/export/exporter.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::exporter {
namespace gradients_test {

using ::testing::HasSubstr;
using ::testing::Not;

plan::TrainingConfig read(const std::string& more) {
  const importer::PlanFile file = importer::read_plan(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 1\nparallelism: {tp_size: 2, dp_size: 4}\n" + more,
      "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(file.findings.empty());
  return resolve(file.draft);
}

std::string export_to(const char* target, const plan::TrainingConfig& config) {
  return export_plan(*find_exporter(target), config).front().text;
}

TEST(Gradients, LeftOpen_AreAssumedInFp32AndStayMegatronsDefault) {
  const plan::TrainingConfig config = read("");
  EXPECT_EQ(config.job.grad_dtype, plan::Dtype::fp32);
  EXPECT_TRUE(config.left_open("job.grad_dtype"));
  const std::string script = export_to("megatron", config);
  EXPECT_THAT(script, Not(HasSubstr("--grad-reduce-in-bf16")));
  const importer::PlanFile again =
      importer::read_any_plan(script, "megatron.sh", importer::refuse_file);
  EXPECT_EQ(again.draft.grad_dtype, plan::Dtype::fp32);
}

TEST(Gradients, StatedBf16_IsExportedAsStated) {
  const std::string script = export_to("megatron", read("job: {grad_dtype: bf16}\n"));
  EXPECT_THAT(script, HasSubstr("--grad-reduce-in-bf16"));
}

TEST(Gradients, FollowTheFrameworkThatIsNamed) {
  EXPECT_EQ(read("software: {framework: deepspeed}\n").job.grad_dtype, plan::Dtype::bf16);
  EXPECT_EQ(read("software: {framework: torchtitan}\n").job.grad_dtype, plan::Dtype::fp32);
  EXPECT_EQ(read("software: {framework: deepspeed}\njob: {grad_dtype: fp32}\n").job.grad_dtype,
            plan::Dtype::fp32);
}

// The assumption names its source, whatever the optimizer and the format: 2 + 4 + 12 bytes per
// parameter hold for Adam alone.
TEST(Gradients, Assumption_NamesTheFrameworkAndNoSum) {
  for (const char* const job : {"", "job: {optimizer: sgd}\n", "job: {matmul: fp8}\n"}) {
    const plan::TrainingConfig config = read(job);
    bool found = false;
    for (const plan::Assumption& one : config.assumed) {
      found = found || (one.key == "job.grad_dtype" && one.why == "the default of megatron-core");
      EXPECT_THAT(one.why, Not(HasSubstr("bytes"))) << job;
    }
    EXPECT_TRUE(found) << job;
  }
}

}  // namespace gradients_test
}  // namespace rankwright::exporter
