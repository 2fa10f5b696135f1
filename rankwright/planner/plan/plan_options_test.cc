#include "rankwright/planner/plan/plan_options.h"

#include <gmock/gmock.h>

#include <set>

namespace rankwright::planner {
namespace plan_options_test {

using ::testing::HasSubstr;

std::string refusal_of(const OptionTexts& texts) {
  const Outcome<PlanRequest> request = read_plan_options(texts);
  return request ? "" : request.error().message;
}

TEST(PlanOptions, EveryOption_HasAUniqueNameAndHelp) {
  std::set<std::string> names;
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
  EXPECT_EQ(request.limits.target, rules::Target::megatron);
  EXPECT_EQ(request.gpus, (search::Range{8, 64}));
  EXPECT_EQ(request.training.tokens, 15e12);
  EXPECT_EQ(request.log.value().name, "run.log");
}

TEST(ReadPlanOptions, InvalidOption_IsNamed) {
  EXPECT_EQ(refusal_of({{"tp", "8"}, {"max-tp", "4"}}), "--tp 8 contradicts --max-tp 4");
  EXPECT_EQ(refusal_of({{"tp", "8"}, {"no-tp", "true"}}), "--tp 8 contradicts --no-tp");
  EXPECT_EQ(refusal_of({{"ran", "plan.yaml"}}), "--ran belongs to --calibrate");
  EXPECT_EQ(refusal_of({{"days", "30"}}), "--days needs to know how much is trained");
  EXPECT_EQ(refusal_of({{"gpu", "8"}}), "there is no option 'gpu'");
  EXPECT_EQ(refusal_of({{"fit", "yes"}}), "--fit takes no value");
  EXPECT_THAT(refusal_of({{"gpus", "9..8"}}), HasSubstr("--gpus: 8 is less than 9"));
}

TEST(ApplyOverrides, ValidOverride_IsApplied_InvalidIsNamed) {
  importer::Draft draft;
  draft.sequence = 1024;
  draft.global_batch = 8;
  EXPECT_FALSE(apply_overrides({{"seq", "2048"}}, draft));
  EXPECT_EQ(draft.sequence, 2048);
  EXPECT_EQ(draft.global_batch, 8);
  EXPECT_THAT(apply_overrides({{"seq", "x"}}, draft).value().message, HasSubstr("--seq: "));
}

}  // namespace plan_options_test
}  // namespace rankwright::planner
