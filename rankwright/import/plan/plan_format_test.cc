#include "rankwright/import/plan/plan_format.h"

#include <gmock/gmock.h>

#include <set>

namespace rankwright::importer {
namespace plan_format_test {

TEST(PlanFormats, AreNamedAfterTheirTargets) {
  std::set<std::string_view> names;
  for (const PlanFormat& format : plan_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_EQ(find_plan_format(format.name), &format);
    EXPECT_FALSE(format.summary.empty()) << format.name;
    if (format.target != rules::Target::any) {
      EXPECT_EQ(row(format.target).name, format.name);
      EXPECT_NE(format.spell, nullptr) << format.name;
    }
  }
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(find_plan_format("megatrn"), nullptr);
}

TEST(PlanFormats, UnclaimedFile_IsAPlanFile) {
  EXPECT_EQ(plan_formats().back().target, rules::Target::any);
  for (const char* const text : {"", "parallelism: {tp_size: 8}\n", "\xff\xfe"}) {
    const PlanFile plan = read_any_plan(text, "plan.yaml", refuse_file);
    EXPECT_EQ(plan.format, &plan_formats().back()) << text;
  }
}

// A plan file of ours is never mistaken for another format, whatever keys it has.
TEST(PlanFormats, DoNotClaimPlanFiles) {
  for (const char* const name : {"plan.yaml", "plan.yml", "-", "plan"})
    EXPECT_EQ(read_any_plan("world_size: 64\nnode_shape: 8_nodes_x_8_gpus\nparallelism:\n"
                            "  tp_size: 8\n  pp_size: 4\n  dp_size: 2\nmodel: llama-3.1-70b\n"
                            "job: {global_batch: 128, sequence: 8192}\n",
                            name, refuse_file)
                  .format->target,
              rules::Target::any)
        << name;
}

TEST(Spelt, InexpressibleEdit_IsSpeltAsInAPlanFile) {
  const PlanFormat& own = plan_formats().back();
  EXPECT_EQ(spell_edits(own, {{"parallelism.dp_size", "2"}, {"model", "llama-3.1-8b"}}),
            "dp_size: 2, --model \"llama-3.1-8b\"");
}

TEST(PlanFormats, UnknownYaml_IsSaidInOneLine) {
  // A recipe with a model, as other tools have it: many keys, none of which are a plan's.
  std::string recipe =
      "run: {name: one, results_dir: out}\ntrainer: {devices: 8, num_nodes: 4, max_steps: 10}\n"
      "exp_manager: {create_wandb_logger: false}\nmodel:\n  data: {name: pile}\n";
  for (int i = 0; i < 200; ++i) recipe += "  setting_" + std::to_string(i) + ": 1\n";
  std::string other;
  for (int i = 0; i < 20; ++i) other += "setting_" + std::to_string(i) + ": 1\n";
  for (const std::string& text : {recipe, other}) {
    const PlanFile plan = read_any_plan(text, "recipe.yaml", refuse_file);
    ASSERT_THAT(plan.findings, ::testing::SizeIs(1));
    EXPECT_EQ(plan.findings[0].code, "RW0603");
    for (const PlanFormat& format : plan_formats())
      EXPECT_THAT(plan.findings[0].hint, ::testing::HasSubstr(std::string(format.name)));
  }
}

TEST(PlanFormats, PlanWithATypo_IsStillAPlan) {
  const PlanFile plan = read_any_plan("paralelism: {tp_size: 8}\n", "plan.yaml", refuse_file);
  EXPECT_THAT(plan.findings, ::testing::Contains(::testing::Field(&Diagnostic::code, "RW0902")));
}

}  // namespace plan_format_test
}  // namespace rankwright::importer
