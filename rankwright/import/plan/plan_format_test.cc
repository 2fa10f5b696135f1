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

}  // namespace plan_format_test
}  // namespace rankwright::importer
