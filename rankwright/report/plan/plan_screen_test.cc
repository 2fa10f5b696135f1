// The default screen of `plan`: its length, its alternatives and its bars.
#include "rankwright/report/plan/plan_screen.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "rankwright/planner/plan.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/report/render/table.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace plan_screen_test {

using ::testing::HasSubstr;

planner::PlanAnswer find(planner::OptionTexts texts) {
  return planner::find_plan(planner::read_plan_options(texts).value()).value();
}

const planner::PlanAnswer& readme_answer() {
  static const planner::PlanAnswer answer = find({{"model", "llama-3.1-70b"},
                                                  {"cluster", "dgx-h100 x 8"},
                                                  {"global-batch", "512"},
                                                  {"seq", "8k"}});
  return answer;
}

// The problem of the README, on one screen.
TEST(PlanScreen, FitsOneScreenOf80Columns) {
  const std::string text = render_plan_screen(readme_answer(), {}, 80, "");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 26);
  golden::expect("plan/screen-llama-3.1-70b.txt", text);
}

TEST(PlanScreen, QuietIsOneLine) {
  const std::string text = render_plan_line(readme_answer());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  golden::expect("plan/quiet-llama-3.1-70b.txt", text);
}

TEST(PlanScreen, SavedPlanIsNamedInTheNextCommand) {
  EXPECT_THAT(render_plan_screen(readme_answer(), {}, 120, "my plan.yaml"),
              HasSubstr("rankwright explain \"my plan.yaml\""));
}

TEST(TopPlans, ListsOneOfEachFamilyFastestFirst) {
  const planner::PlanAnswer answer = find({{"model", "llama-3.2-1b"},
                                           {"cluster", "dgx-h100"},
                                           {"global-batch", "64"},
                                           {"seq", "4k"},
                                           {"top", "4"}});
  ASSERT_EQ(answer.top.size(), 3u);
  for (std::size_t k = 0; k < answer.top.size(); ++k) {
    EXPECT_NE(search::find_family(answer.top[k].config.plan),
              search::find_family(answer.best().config.plan));
    if (k > 0) {
      EXPECT_GE(answer.top[k].time(), answer.top[k - 1].time());
    }
  }
  const std::string text = render_top_plans(answer, {}, 80);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);  // a heading and four plans
}

}  // namespace plan_screen_test
}  // namespace rankwright::report
