#include "rankwright/planner/input/run_input.h"

#include <gtest/gtest.h>

namespace rankwright::planner {
namespace run_input_test {

TEST(ArgumentsOf, MegatronLog_ReturnsTheLinesBetweenTheRules) {
  EXPECT_EQ(
      find_arguments("x\n---- arguments ----\n  a .. 1\n  b .. 2\n--- end of arguments ---\ny"),
      "  a .. 1\n  b .. 2\n");
}

TEST(ArgumentsOf, NoEndOrNoText_ReturnsNothing) {
  EXPECT_EQ(find_arguments("---- arguments ----\n  a .. 1\n"), "");
  EXPECT_EQ(find_arguments(""), "");
}

TEST(PlanOfLog, WithoutArguments_ReturnsNothing) {
  EXPECT_FALSE(read_plan_of_log("iteration 1/ 10\n", "run.log").has_value());
}

}  // namespace run_input_test
}  // namespace rankwright::planner
