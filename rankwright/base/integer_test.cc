#include "rankwright/base/integer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace rankwright {
namespace integer_test {

using ::testing::ElementsAre;

TEST(Product, NoFactors_IsOne) { EXPECT_EQ(product({}), 1); }

TEST(Product, Overflow_IsNothing) {
  EXPECT_EQ(product({8, 4, 2}), 64);
  EXPECT_EQ(product({i64{1} << 31, i64{1} << 31}), i64{1} << 62);
  EXPECT_EQ(product({i64{1} << 32, i64{1} << 31}), std::nullopt);
  EXPECT_EQ(product({kMaxCount, kMaxCount}), std::nullopt);
}

TEST(Product, ZeroFactor_IsZeroInAnyPosition) {
  EXPECT_EQ(product({0, kMaxCount, kMaxCount}), 0);
  EXPECT_EQ(product({kMaxCount, kMaxCount, 0}), 0);
}

__extension__ typedef __int128 Wide;

RC_GTEST_PROP(Product, IsExactOrNothing, ()) {
  const i64 a = *rc::gen::arbitrary<std::uint32_t>(), b = *rc::gen::arbitrary<std::uint32_t>();
  const i64 c = *rc::gen::inRange<i64>(0, 1000);
  const Wide exact = Wide(a) * b * c;
  const bool fits = exact <= std::numeric_limits<i64>::max();
  RC_ASSERT(product({a, b, c}) == (fits ? std::optional<i64>(i64(exact)) : std::nullopt));
}

TEST(Divides, NeedsAPositiveDivisor) {
  EXPECT_TRUE(divides(3, 12));
  EXPECT_TRUE(divides(3, 0));
  EXPECT_FALSE(divides(5, 12));
  EXPECT_FALSE(divides(0, 12));
  EXPECT_FALSE(divides(-3, 12));
}

TEST(CeilDiv, RoundsUpWithoutOverflow) {
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(1, 8), 1);
  EXPECT_EQ(ceil_div(8, 8), 1);
  EXPECT_EQ(ceil_div(9, 8), 2);
  EXPECT_EQ(ceil_div(-9, 8), -1);
  EXPECT_EQ(ceil_div(std::numeric_limits<i64>::max(), 2), i64{1} << 62);
}

TEST(RoundUp, ReturnsTheNextMultiple) {
  // GPT-2's vocabulary of 50,257 padded to a multiple of 128: 393 * 128.
  EXPECT_EQ(round_up(50257, 128), 50304);
  EXPECT_EQ(round_up(128, 128), 128);
}

TEST(Divisors, AreAscending) {
  EXPECT_THAT(list_divisors(1), ElementsAre(1));
  EXPECT_THAT(list_divisors(7), ElementsAre(1, 7));
  EXPECT_THAT(list_divisors(36), ElementsAre(1, 2, 3, 4, 6, 9, 12, 18, 36));
  EXPECT_DEATH(list_divisors(0), "n >= 1");
}

RC_GTEST_PROP(Divisors, MatchTrialDivision, ()) {
  const i64 n = *rc::gen::inRange<i64>(1, 3000);
  std::vector<i64> expected;
  for (i64 d = 1; d <= n; ++d)
    if (n % d == 0) expected.push_back(d);
  RC_ASSERT(list_divisors(n) == expected);
}

TEST(NearestDivisor, Tie_PrefersTheSmaller) {
  EXPECT_EQ(nearest_divisor(56, 16), 14);  // 14 is 2 away, 28 is 12
  EXPECT_EQ(nearest_divisor(12, 5), 4);    // 4 and 6 are equally near
  EXPECT_EQ(nearest_divisor(12, 100), 12);
  EXPECT_EQ(nearest_divisor(12, -7), 1);
}

}  // namespace integer_test
}  // namespace rankwright
