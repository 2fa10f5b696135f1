#include "rankwright/planner/input/plan_input.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace plan_input_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;

const std::string kPlan =
    "model: llama-3.2-1b\ncluster: dgx-h100 x 1\nparallelism: {tp_size: 2, dp_size: 4}\n";

PlanSource source_of(const std::string& text) { return {.plan = {"plan.yaml", text}}; }

TEST(ReadInput, ValidPlan_HasAConfig) {
  const PlanInput input = read_input(source_of(kPlan));
  ASSERT_TRUE(input.config.has_value());
  EXPECT_EQ(input.config->plan.tp, 2);
  EXPECT_EQ(input.config->world, 8);
  EXPECT_EQ(input.file.name, "plan.yaml");
}

TEST(ReadInput, Overrides_ReplaceThePlansValues) {
  PlanSource source = source_of(kPlan);
  source.model = "llama-3.1-8b";
  source.cluster = "dgx-h200 x 1";
  EXPECT_TRUE(source.overrides());
  const PlanInput input = read_input(source);
  ASSERT_TRUE(input.config.has_value());
  EXPECT_EQ(input.config->model.name, "llama-3.1-8b");
  EXPECT_EQ(input.config->cluster.device.name, "h200-sxm");
}

TEST(ReadInput, BrokenClusterFile_DoesNotMatterIfReplaced) {
  PlanSource source = source_of(
      "model: llama-3.2-1b\ncluster: broken.yaml\n"
      "parallelism: {tp_size: 2, dp_size: 4}\n");
  source.files = [](const std::string&) -> Result<std::string> {
    return "device: no-such-gpu\nlevels: [{name: nvlink, arity: 8}]\n";
  };
  EXPECT_FALSE(read_input(source).config.has_value());
  source.cluster = "dgx-h100 x 1";
  EXPECT_TRUE(read_input(source).config.has_value());
  EXPECT_TRUE(read_input(source).file.findings.empty());
  source.cluster = "no-such-system";
  EXPECT_FALSE(read_input(source).config.has_value());
}

TEST(ReadInput, UnreadableFile_IsAFindingAmongOthers) {
  PlanSource source{
      .plan = {.name = "gone.yaml", .unreadable = Diagnostic{.code = "RW0901", .message = "gone"}},
      .model = "no-such-model"};
  const PlanInput input = read_input(source);
  EXPECT_FALSE(input.config.has_value());
  EXPECT_THAT(input.file.findings, Contains(Field(&Diagnostic::code, "RW0901")));
  EXPECT_EQ(input.file.findings.size(), 2u);
}

TEST(ReadInput, ModelFile_IsReadOnlyWithTheGivenReader) {
  PlanSource source = source_of("model: my/config.json\nparallelism: {dp_size: 8}\n");
  EXPECT_FALSE(read_input(source).config.has_value());
  std::vector<std::string> asked;
  source.files = [&](const std::string& path) -> Result<std::string> {
    asked.push_back(path);
    return fail({.code = "RW0901", .message = "gone"});
  };
  EXPECT_FALSE(read_input(source).config.has_value());
  EXPECT_THAT(asked, ElementsAre("my/config.json"));
}

TEST(ReadValidPlan, ConstraintViolation_IsRefusedWithItsFindings) {
  const std::string text = "world_size: 8\nparallelism: {tp_size: 3, dp_size: 2}\n";
  const Outcome<ValidPlan> plan = read_valid_plan(source_of(text));
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, Refusal::Kind::refused);
  EXPECT_TRUE(has_errors(plan.error().findings));
  EXPECT_EQ(plan.error().file.name, "plan.yaml");
  EXPECT_EQ(plan.error().file.text, text);
}

TEST(ReadValidPlan, BrokenYaml_IsUnreadable) {
  const Outcome<ValidPlan> plan = read_valid_plan(source_of("parallelism: ["));
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, Refusal::Kind::unreadable);
}

TEST(ReadValidPlan, PlanThatDoesNotFit_IsValidWithAnError) {
  // 70.6 B parameters at 16 bytes each on each of 8 GPUs.
  const Outcome<ValidPlan> plan = read_valid_plan(
      source_of("model: llama-3.1-70b\ncluster: dgx-h100 x 1\nparallelism: {dp_size: 8}\n"));
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(has_errors(plan->findings));
}

TEST(UnknownName, SimilarToAKnownName_SuggestsIt) {
  const Refusal near = unknown_name({"target", "nanotrn", {"nanotron"}, "a list"});
  const Refusal far = unknown_name({"target", "zzz", {"nanotron"}, "a list"});
  EXPECT_EQ(far.hint, "a list");
  golden::expect("planner/unknown-names.txt",
                 format_refusal("nanotrn", near) + format_refusal("zzz", far));
}

}  // namespace plan_input_test
}  // namespace rankwright::planner
