#include "rankwright/planner/plan/plan_options.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace plan_options_test {

TEST(PlanOptions, EveryOption_HasAUniqueNameAndHelp) {
  std::set<std::string> names;
  ASSERT_FALSE(plan_options().empty());
  for (const PlanOption& option : plan_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name << " appears twice";
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_TRUE(option.takes_value || option.type.empty()) << option.name;
  }
}

TEST(ReadPlanOptions, NoOptions_LimitNothing) {
  const PlanRequest request = read_plan_options({}).value();
  EXPECT_EQ(request.limits, search::Limits{});
  EXPECT_FALSE(request.gpus || request.fit || request.log || request.plan_file);
}

TEST(ReadPlanOptions, EveryKindOfOption_IsRead) {
  const PlanRequest request = read_plan_options({{"model", "llama-3.1-8b"},
                                                 {"global-batch", "256"},
                                                 {"tp", "4"},
                                                 {"max-pp", "8"},
                                                 {"no-cp", "true"},
                                                 {"no-dp", "false"},
                                                 {"recompute", "full"},
                                                 {"for", "megatron"},
                                                 {"gpus", "8..64"},
                                                 {"tokens", "15T"},
                                                 {"calibrate", "run.log"},
                                                 {"threads", ""}})
                                  .value();
  EXPECT_EQ(request.model, "llama-3.1-8b");
  EXPECT_EQ(request.overrides, (OptionTexts{{"global-batch", "256"}}));
  EXPECT_EQ(request.limits.tp, (search::Range{4, 4}));
  EXPECT_EQ(request.limits.pp, (search::Range{1, 8}));
  EXPECT_EQ(request.limits.cp, (search::Range{1, 1}));
  EXPECT_EQ(request.limits.dp, search::Range{});
  EXPECT_EQ(request.limits.recompute, plan::Recompute::full);
  EXPECT_EQ(request.target, rules::Target::megatron);
  EXPECT_EQ(request.gpus, (search::Range{8, 64}));
  EXPECT_EQ(request.training.tokens, 15e12);
  EXPECT_EQ(request.log.value().name, "run.log");
}

TEST(ReadPlanOptions, InvalidOption_IsNamed) {
  std::string text;
  const auto add = [&](const char* options, const OptionTexts& texts) {
    const Outcome<PlanRequest> request = read_plan_options(texts);
    EXPECT_FALSE(request) << options;
    text += format_refusal(options, request);
  };
  add("--tp 8 --max-tp 4", {{"tp", "8"}, {"max-tp", "4"}});
  add("--tp 8 --no-tp", {{"tp", "8"}, {"no-tp", "true"}});
  add("--ran plan.yaml", {{"ran", "plan.yaml"}});
  add("--days 30", {{"days", "30"}});
  add("--gpu 8", {{"gpu", "8"}});
  add("--fit yes", {{"fit", "yes"}});
  add("--gpus 9..8", {{"gpus", "9..8"}});
  golden::expect("planner/plan-option-refusals.txt", text);
}

TEST(ApplyOverrides, ValidOverride_IsApplied_InvalidIsNamed) {
  importer::Draft draft;
  draft.sequence = 1024;
  draft.global_batch = 8;
  EXPECT_FALSE(apply_overrides({{"seq", "2048"}}, draft));
  EXPECT_EQ(draft.sequence, 2048);
  EXPECT_EQ(draft.global_batch, 8);
  golden::expect("planner/plan-override-refusals.txt",
                 format_refusal("--seq x", apply_overrides({{"seq", "x"}}, draft).value()));
}

}  // namespace plan_options_test
}  // namespace rankwright::planner
