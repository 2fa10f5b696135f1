#include "rankwright/report/compare/compare_sentences.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/bands.h"
#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace compare_sentences_test {

using ::testing::HasSubstr;

/// Returns Llama 8B on two nodes; `parallelism` as in a plan file.
rankwright::plan::TrainingConfig make_two_node_config(const std::string& parallelism,
                                                      i64 batch = 32) {
  return config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: " + std::to_string(batch) +
      ", sequence: 4096}\nparallelism: {" + parallelism + "}\n");
}
const std::string kPlan = "tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1";

CompareSentences compare_configs(const rankwright::plan::TrainingConfig& a,
                                 const rankwright::plan::TrainingConfig& b) {
  return describe_comparison(a, b, planner::make_compare_view(a, b));
}

/// Returns twice the nodes for the same job.
rankwright::plan::TrainingConfig make_four_node_config() {
  return config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 4, pp_size: 2, dp_size: 4, zero_stage: 1}\n");
}

rankwright::plan::TrainingConfig make_slow_config() {
  rankwright::plan::TrainingConfig slow = make_two_node_config(kPlan);
  slow.plan.recompute = plan::Recompute::full;  // one more forward: a third more work
  return slow;
}

rankwright::plan::TrainingConfig make_h200_config() {
  rankwright::plan::TrainingConfig other = make_two_node_config(kPlan);
  other.cluster.device = *catalog::find_device("h200-sxm");
  return other;
}

/// Returns a config whose device has `share` of the memory that the plan needs.
rankwright::plan::TrainingConfig make_config_with_memory(double share) {
  rankwright::plan::TrainingConfig config = make_two_node_config(kPlan);
  config.cluster.device.memory = share * cost::fullest(config, catalog::get_calibration()).total();
  return config;
}

TEST(Verdict, NamesTheFasterPlanTheBasisAndTheError) {
  const rankwright::plan::TrainingConfig plan = make_two_node_config(kPlan);
  std::string text;
  const auto add = [&](const char* what, const rankwright::plan::TrainingConfig& a,
                       const rankwright::plan::TrainingConfig& b) {
    const CompareSentences words = compare_configs(a, b);
    text += fmt::format("{}\n", what);
    if (!words.unlike.empty()) text += fmt::format("  basis: {}\n", words.unlike);
    text += fmt::format("  verdict: {}\n", words.verdict);
  };
  add("the same plan", plan, plan);
  add("another batch", plan, make_two_node_config(kPlan, 64));
  add("twice the GPUs", plan, make_four_node_config());
  add("A recomputes all layers", make_slow_config(), plan);
  add("B recomputes all layers", plan, make_slow_config());
  add("B runs on other devices", plan, make_h200_config());
  add("twice the GPUs and another batch", make_two_node_config(kPlan, 64), make_four_node_config());
  add("B cannot run", plan, make_config_with_memory(0.5));
  rankwright::plan::TrainingConfig slow = make_config_with_memory(0.5);
  slow.plan.recompute = plan::Recompute::full;
  slow.cluster.device.memory = 0.1 * slow.cluster.device.memory;
  add("neither can run", make_config_with_memory(0.1), slow);
  golden::expect("compare/verdicts.txt", text);
}

TEST(Verdict, SameWork_OmitsTheBasis) {
  EXPECT_EQ(
      compare_configs(make_two_node_config(kPlan), make_two_node_config("tp_size: 8, dp_size: 2"))
          .unlike,
      "");
}

TEST(Verdict, PlansOfOneModel_UseTheErrorBetweenPlans) {
  EXPECT_THAT(compare_configs(make_slow_config(), make_two_node_config(kPlan)).verdict,
              HasSubstr("±" + percent(catalog::get_bands().pair.within)));
}

TEST(Verdict, DifferentDevices_UseTheErrorOfEach) {
  EXPECT_THAT(compare_configs(make_two_node_config(kPlan), make_h200_config()).verdict,
              HasSubstr("±" + percent(catalog::get_bands().dense_far.within)));
}

TEST(Fit, BothFitWithMargin_IsEmpty) {
  const rankwright::plan::TrainingConfig fits = make_two_node_config(kPlan);
  EXPECT_EQ(compare_configs(fits, fits).fit, "");
}

TEST(Fit, NamesThePlanThatCannotRunOrMayNotFitOrHasNoModel) {
  const rankwright::plan::TrainingConfig fits = make_two_node_config(kPlan),
                                         full = make_config_with_memory(0.5),
                                         near = make_config_with_memory(1.01);
  const rankwright::plan::TrainingConfig open =
      config_of("{world_size: 16, parallelism: {tp_size: 8, dp_size: 2}}");
  std::string text;
  const auto add = [&](const char* what, const rankwright::plan::TrainingConfig& a,
                       const rankwright::plan::TrainingConfig& b) {
    text += fmt::format("{}\n  {}\n", what, compare_configs(a, b).fit);
  };
  add("A fits, B needs twice the memory", fits, full);
  add("both need twice the memory", full, full);
  add("A fits, B fits with 1 % to spare", fits, near);
  add("A fits, B has no model", fits, open);
  add("A has no model, B fits", open, fits);
  add("neither has a model", open, open);
  add("A has no model, B needs twice the memory", open, full);
  golden::expect("compare/fits.txt", text);
}

}  // namespace compare_sentences_test
}  // namespace rankwright::report
