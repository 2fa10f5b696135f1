#include "rankwright/report/plan/counts_text.h"

#include <gmock/gmock.h>

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

}  // namespace counts_text_test
}  // namespace rankwright::report
