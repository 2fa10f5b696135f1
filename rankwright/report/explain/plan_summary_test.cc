#include "rankwright/report/explain/plan_summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace plan_summary_test {

const std::string kModel = "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n";

/// Describes the plan, one sentence per line.
std::string describe(const std::string& plan) {
  const rankwright::plan::TrainingConfig config = config_of(plan);
  std::string text = describe_plan(config, planner::make_explain_view(config));
  for (std::size_t at = 0; (at = text.find(". ", at)) != text.npos;) text[++at] = '\n';
  return text + "\n";
}

TEST(DescribePlan, NamesWhatIsNotSplit) {
  golden::expect("report/summary-one-rank.txt",
                 describe(kModel + "world_size: 1\nparallelism: {dp_size: 1}\n"));
}

TEST(DescribePlan, NamesWhatIsSplitAndWhichLinksAreCrossed) {
  // 16 microbatches on 2 pp ranks: 1 of 17 slots (5.88 %) is idle, and the slots are not the whole
  // step. tp 4 stays inside a node; pp 2 crosses nodes.
  golden::expect(
      "report/summary-two-nodes.txt",
      describe(
          "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
          "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n"));
}

TEST(DescribePlan, SaysThatDualPipeHoldsEveryStageTwice) {
  // dp 1 and yet two copies: the summary says that there is no data parallelism, not that there is
  // one copy.
  golden::expect(
      "report/summary-dualpipe.txt",
      describe(
          "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
          "parallelism: {tp_size: 4, pp_size: 4, dp_size: 1, schedule: dualpipe}\n"));
}

TEST(DescribePlan, SaysWhetherItFits) {
  // Without ZeRO every device holds all states: those of 8 B parameters do not fit, those of 1 B
  // do. Without a model the summary says nothing about memory.
  const std::string cluster = "cluster: dgx-h100 x 8\nparallelism: {dp_size: 64}\n";
  golden::expect("report/summary-fit.txt",
                 fmt::format("llama-3.1-8b:\n{}\nllama-3.2-1b:\n{}\nno model:\n{}",
                             describe("model: llama-3.1-8b\n" + cluster),
                             describe("model: llama-3.2-1b\n" + cluster), describe(cluster)));
}

TEST(DescribePlan, SaysHowExpertsAndSequencesAreSplit) {
  // 8 experts over ep 4: 2 on each rank.
  golden::expect("report/summary-experts.txt",
                 describe("model: mixtral-8x7b\ncluster: dgx-h100 x 2\n"
                          "parallelism: {cp_size: 2, dp_size: 8, ep_size: 4, zero_stage: 1}\n"));
}

TEST(DescribePlan, NamesEveryZeroStage) {
  std::string all;
  for (const int stage : {0, 1, 2, 3})
    all += fmt::format("{}zero_stage {}:\n{}", all.empty() ? "" : "\n", stage,
                       describe(kModel + "parallelism: {dp_size: 8, zero_stage: " +
                                std::to_string(stage) + "}\n"));
  golden::expect("report/summary-zero-stages.txt", all);
}

}  // namespace plan_summary_test
}  // namespace rankwright::report
