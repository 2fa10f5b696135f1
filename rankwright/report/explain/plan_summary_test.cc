#include "rankwright/report/explain/plan_summary.h"

#include <gmock/gmock.h>

#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace plan_summary_test {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kModel = "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n";

std::string describe(const std::string& plan) {
  const rankwright::plan::TrainingConfig config = config_of(plan);
  return describe_plan(config, planner::make_explain_view(config));
}

TEST(DescribePlan, NamesWhatIsNotSplit) {
  const std::string words = describe(kModel + "world_size: 1\nparallelism: {dp_size: 1}\n");
  EXPECT_THAT(words, HasSubstr("No layer is cut: tensor parallelism is off."));
  EXPECT_THAT(words, HasSubstr("Every rank holds all layers: there is no pipeline."));
  EXPECT_THAT(words, HasSubstr("There is one copy, so no data parallelism."));
  EXPECT_THAT(words, HasSubstr("Nothing but compute is expected to take time."));
}

TEST(DescribePlan, NamesWhatIsSplitAndWhichLinksAreCrossed) {
  // 16 microbatches on 2 pp ranks: 1 of 17 slots is idle, and the slots are not the whole step.
  const std::string words = describe(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n");
  EXPECT_THAT(words, HasSubstr("cut over 4 ranks, whose collectives stay on nvlink"));
  EXPECT_THAT(words, HasSubstr("32 layers run in 2 stages on 2 pp ranks, whose sends and receives "
                               "cross infiniband at 50 GB/s"));
  EXPECT_THAT(words,
              HasSubstr("with 16 microbatches 1f1b fills and drains for 4.88 % of the step"));
  EXPECT_THAT(words, HasSubstr("share the optimizer states (ZeRO-1)"));
  EXPECT_THAT(words, HasSubstr("A profile of one step would prove it."));
}

TEST(DescribePlan, SaysThatDualPipeHoldsEveryStageTwice) {
  const std::string words = describe(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 4, pp_size: 4, dp_size: 1, schedule: dualpipe}\n");
  EXPECT_THAT(words,
              HasSubstr("Every stage is on two pp ranks, which run half of the microbatches "
                        "each; their gradients cross infiniband at 50 GB/s to be added up."));
  EXPECT_THAT(words, HasSubstr("There is no data parallelism."));
  EXPECT_THAT(words, Not(HasSubstr("one copy")));
}

TEST(DescribePlan, SaysWhetherItFits) {
  const std::string cluster = "cluster: dgx-h100 x 8\nparallelism: {dp_size: 64}\n";
  EXPECT_THAT(describe("model: llama-3.1-8b\n" + cluster), HasSubstr("it does not fit"));
  EXPECT_THAT(describe("model: llama-3.2-1b\n" + cluster),
              HasSubstr("of 79.1 GiB: it fits with margin"));
  // Without a model nothing is known about memory.
  EXPECT_THAT(describe(cluster), Not(HasSubstr("fullest")));
}

TEST(DescribePlan, SaysHowExpertsAndSequencesAreSplit) {
  const std::string words = describe(
      "model: mixtral-8x7b\ncluster: dgx-h100 x 2\n"
      "parallelism: {cp_size: 2, dp_size: 8, ep_size: 4, zero_stage: 1}\n");
  EXPECT_THAT(words, HasSubstr("The 8 experts of a layer are spread over 4 ranks, 2 on each"));
  EXPECT_THAT(words, HasSubstr("Each sequence is cut over 2 ranks"));
}

TEST(DescribePlan, NamesEveryZeroStage) {
  const auto with = [](int stage) {
    return describe(kModel + "parallelism: {dp_size: 8, zero_stage: " + std::to_string(stage) +
                    "}\n");
  };
  EXPECT_THAT(with(0), HasSubstr("keep all their states;"));
  EXPECT_THAT(with(1), HasSubstr("share the optimizer states (ZeRO-1);"));
  EXPECT_THAT(with(2), HasSubstr("share optimizer states and gradients (ZeRO-2);"));
  EXPECT_THAT(with(3), HasSubstr("share parameters, gradients and optimizer states (ZeRO-3);"));
}

}  // namespace plan_summary_test
}  // namespace rankwright::report
