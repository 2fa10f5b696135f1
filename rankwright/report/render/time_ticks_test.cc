#include "rankwright/report/render/time_ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace rankwright::report {
namespace time_ticks_test {

using ::testing::ElementsAre;

TEST(Ticks, AreRound) {
  const auto values = [](Seconds end, i64 max) {
    std::vector<double> all;
    for (const Seconds t : place_ticks(end, max)) all.push_back(t.value);
    return all;
  };
  EXPECT_THAT(values(Seconds{33}, 8), ElementsAre(0, 5, 10, 15, 20, 25, 30));
  EXPECT_THAT(values(Seconds{10}, 3), ElementsAre(0, 5, 10));
  EXPECT_THAT(values(Seconds{0}, 8), ElementsAre(0));
}

RC_GTEST_PROP(Ticks, AreAtMostMaxAndReachTheEnd, ()) {
  const Seconds end{std::pow(10.0, double(*rc::gen::inRange<i64>(-60, 60)) / 10)};
  const i64 max = *rc::gen::inRange<i64>(2, 40);
  const std::vector<Seconds> all = place_ticks(end, max);
  RC_ASSERT(i64(all.size()) <= max);
  RC_ASSERT(all.size() >= 2u);
  RC_ASSERT(all.front() == Seconds{});
  const Seconds step = all[1];
  RC_ASSERT(all.back() <= end * (1 + 1e-6));
  RC_ASSERT(end - all.back() < step * (1 + 1e-6));
}

}  // namespace time_ticks_test
}  // namespace rankwright::report
