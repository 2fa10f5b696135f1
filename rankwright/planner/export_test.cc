#include "rankwright/planner/export.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace export_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const PlanSource kPlan{.plan = {"plan.yaml",
                                "world_size: 16\nmodel: llama-3.2-1b\ncluster: dgx-h100 x 2\n"
                                "parallelism: {dp_size: 16}\n"}};
// 70.6 B parameters at 16 bytes each on each of 8 GPUs.
const PlanSource kTooLarge{
    .plan = {"plan.yaml",
             "model: llama-3.1-70b\ncluster: dgx-h100 x 1\nparallelism: {dp_size: 8}\n"}};

TEST(ExportPlan, ValidPlan_WritesTheMainFileFirst) {
  const Outcome<ExportAnswer> answer = export_plan({.plan = kPlan, .target = "nanotron"});
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->files.empty());
  EXPECT_THAT(answer->files[0].text, HasSubstr("parallelism:\n  dp: 16\n"));
  EXPECT_TRUE(answer->memory.empty());
}

TEST(ExportPlan, PlanThatDoesNotFit_IsWrittenWithAnError) {
  const Outcome<ExportAnswer> answer = export_plan({.plan = kTooLarge, .target = "nanotron"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(has_errors(answer->memory));
  EXPECT_FALSE(answer->files.empty());
}

TEST(ExportPlan, Strict_RefusesWhatTheTargetCannotExpress) {
  const ExportRequest request{.plan = kTooLarge, .target = "deepspeed", .strict = true};
  const Outcome<ExportAnswer> answer = export_plan(request);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::refused);
  // Findings about memory come first, then the losses.
  ASSERT_EQ(answer.error().also.size(), 1u);
  EXPECT_THAT(std::string(answer.error().findings[0].code), StartsWith("RW02"));
  EXPECT_EQ(answer.error().also[0].findings[0].code, "RW0602");
}

TEST(ExportPlan, Hosts_AreForLaunchersOnly) {
  const Outcome<ExportAnswer> named =
      export_plan({.plan = kPlan, .target = "slurm", .hosts = {.list = "gpu-[7-8]"}});
  ASSERT_TRUE(named.has_value());
  EXPECT_THAT(named->files[0].text, HasSubstr("#SBATCH --nodelist=gpu-[7-8]\n"));
  EXPECT_FALSE(export_plan({.plan = kPlan, .target = "nanotron", .hosts = {.list = "n[0-1]"}}));
}

TEST(ExportPlan, UnknownTarget_IsAUsageError) {
  const Outcome<ExportAnswer> answer = export_plan({.plan = kPlan, .target = "nanotrn"});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::usage);
}

TEST(ExportPlan, Refusals_SayWhatIsWrongAndNameTheNearestTarget) {
  golden::expect(
      "planner/export-refusals.txt",
      format_refusal("export plan.yaml", export_plan({.plan = kPlan})) +
          format_refusal("--to nanotrn", export_plan({.plan = kPlan, .target = "nanotrn"})) +
          format_refusal(
              "--to nanotron --hosts n[0-1]",
              export_plan({.plan = kPlan, .target = "nanotron", .hosts = {.list = "n[0-1]"}})));
}

}  // namespace export_test
}  // namespace rankwright::planner
