#include "rankwright/report/plan/counts_text.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace counts_text_test {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CountsMarkdown, NamesAreEscaped) {
  rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {dp_size: 16}");
  config.model.name = "<b>*llama*";
  planner::PlansByCount view{.problem = search::make_problem(config)};
  search::EvaluatedPlan one{.config = config};
  one.estimate.step[cost::Item::matmul] = Seconds{8};
  view.rows.push_back({.gpus = 16, .plan = one, .leanest = {}});
  choose_count(view);
  const std::string text = render_counts_markdown(view);
  EXPECT_THAT(text, HasSubstr("# &lt;b>\\*llama\\*"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
}

/// Returns 16, 24 and 32 GPUs whose steps take 8, 4 and 5 s, for 10 steps by a deadline.
planner::PlansByCount make_three_counts(double deadline) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 4096}\n"
      "parallelism: {dp_size: 32}");
  planner::PlansByCount view{.problem = search::make_problem(config)};
  i64 gpus = 16;
  for (const double seconds : {8.0, 4.0, 5.0}) {
    search::EvaluatedPlan one{.config = config};
    one.config.world = gpus;
    one.config.plan.dp = gpus;
    one.estimate.step[cost::Item::matmul] = Seconds{seconds};
    view.rows.push_back({.gpus = gpus, .plan = one, .leanest = {}});
    gpus += 8;
  }
  view.training.tokens = 10 * 64 * 4096.0;
  view.training.deadline = Seconds{deadline * 86400};
  choose_count(view);
  return view;
}

TEST(CountsText, RowsAndTargets_MatchGolden) {
  std::string text = "32 GPUs are slower than 24\n\n";
  text += render_counts_text(make_three_counts(1), {}, 100);
  text += "\nall miss the target, and more GPUs are slower\n\n";
  text += render_counts_text(make_three_counts(1e-5), {}, 100);
  text += "\nall miss the target\n\n";
  planner::PlansByCount two = make_three_counts(1e-5);
  two.rows.pop_back();
  choose_count(two);
  text += render_counts_text(two, {}, 100);
  text += "\nall exceed the budget\n\n";
  two.training.deadline.reset();
  two.training.price = planner::Price{2, "$", ""};
  two.training.budget = planner::Price{0.01, "$", ""};
  choose_count(two);
  text += render_counts_text(two, {}, 100);
  golden::expect("plan/counts-targets.txt", text);
}

}  // namespace counts_text_test
}  // namespace rankwright::report
