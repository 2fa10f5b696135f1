#include "rankwright/report/compare/compare_sentences.h"

#include <gmock/gmock.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace compare_sentences_test {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(Verdict, SamePlan_SaysThatBothTakeAsLong) {
  const rankwright::plan::TrainingConfig plan = make_two_node_config(kPlan);
  EXPECT_EQ(compare_configs(plan, plan).verdict, "Both take as long.");
}

TEST(Verdict, SameWork_OmitsTheBasis) {
  EXPECT_EQ(
      compare_configs(make_two_node_config(kPlan), make_two_node_config("tp_size: 8, dp_size: 2"))
          .unlike,
      "");
}

TEST(Verdict, DifferentBatches_AreComparedByTokens) {
  const CompareSentences words =
      compare_configs(make_two_node_config(kPlan), make_two_node_config(kPlan, 64));
  EXPECT_THAT(words.unlike, HasSubstr("32 x 4,096 against 64 x 4,096 tokens"));
  EXPECT_THAT(words.verdict, HasSubstr("a million tokens"));
}

TEST(Verdict, DifferentWorlds_AreComparedByGpuTimeAndElapsedTime) {
  const rankwright::plan::TrainingConfig large = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 4, pp_size: 2, dp_size: 4, zero_stage: 1}\n");
  EXPECT_THAT(compare_configs(make_two_node_config(kPlan), large).verdict,
              HasSubstr("the 16 GPUs of A take "));
}

TEST(Verdict, NamesTheFasterAndTheError) {
  rankwright::plan::TrainingConfig slow = make_two_node_config(kPlan);
  slow.plan.recompute = plan::Recompute::full;  // one more forward: a third more work
  const std::string verdict = compare_configs(slow, make_two_node_config(kPlan)).verdict;
  EXPECT_THAT(verdict, StartsWith("B is "));
  EXPECT_THAT(verdict, HasSubstr("more than ±" + percent(catalog::get_bands().pair.within) +
                                 ", the median error between two plans of one model."));
}

TEST(Verdict, DifferentDevices_UseTheErrorOfEach) {
  const rankwright::plan::TrainingConfig a = make_two_node_config(kPlan);
  rankwright::plan::TrainingConfig b = a;
  b.cluster.device = *catalog::find_device("h200-sxm");
  EXPECT_THAT(compare_configs(a, b).verdict, HasSubstr("inside the model's error of ±" +
                                                       percent(catalog::get_bands().dense.within)));
}

TEST(Fit, NamesThePlanThatCannotRun) {
  const rankwright::plan::TrainingConfig fits = make_two_node_config(kPlan);
  rankwright::plan::TrainingConfig full = fits;
  full.cluster.device.memory = 0.5 * cost::fullest(full, catalog::get_calibration()).total();
  EXPECT_THAT(compare_configs(fits, full).fit, StartsWith("B does not fit: "));
  EXPECT_THAT(compare_configs(fits, full).fit, HasSubstr("Only A can run."));
  full.plan.overlap.grad_reduce = false;
  EXPECT_THAT(compare_configs(full, full).fit, HasSubstr("Neither can run"));
}

TEST(Fit, IsStatedForThePlanWithAModel) {
  const rankwright::plan::TrainingConfig named = make_two_node_config(kPlan);
  const rankwright::plan::TrainingConfig open =
      config_of("{world_size: 16, parallelism: {tp_size: 8, dp_size: 2}}");
  const std::string unknown = "fits cannot be said of a model that is not named: --model NAME.";
  EXPECT_THAT(compare_configs(named, open).fit, StartsWith("A fits with margin: "));
  EXPECT_THAT(compare_configs(named, open).fit, HasSubstr(" on pp rank 0. Whether B " + unknown));
  EXPECT_THAT(compare_configs(open, named).fit, StartsWith("B fits with margin: "));
  EXPECT_THAT(compare_configs(open, open).fit, StartsWith("Whether they fit cannot be said"));
  rankwright::plan::TrainingConfig full = named;
  full.cluster.device.memory = 0.5 * cost::fullest(full, catalog::get_calibration()).total();
  EXPECT_THAT(compare_configs(open, full).fit, StartsWith("B does not fit: "));
  EXPECT_THAT(compare_configs(open, full).fit, Not(HasSubstr("can run")));
}

TEST(Fit, IsUncertainInsideTheErrorBand) {
  const rankwright::plan::TrainingConfig fits = make_two_node_config(kPlan);
  EXPECT_EQ(compare_configs(fits, fits).fit, "");
  rankwright::plan::TrainingConfig near = fits;
  near.cluster.device.memory = 1.01 * cost::fullest(near, catalog::get_calibration()).total();
  EXPECT_THAT(compare_configs(fits, near).fit, StartsWith("B is tight: "));
}

}  // namespace compare_sentences_test
}  // namespace rankwright::report
