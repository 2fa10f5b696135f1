#include "rankwright/cost/memory/verdict.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright::cost::verdict_test {
namespace {

using V = MemoryVerdict;

// A device of 80 GiB and estimates within +-10 %: up to 72 GiB fit even if 10 % more is measured,
// up to 88 GiB may fit if less is.
TEST(MemoryVerdict, WorkedExamples) {
  const auto judge = [](double gib) { return judge_memory(Bytes{gib}, Bytes{80}, 0.1); };
  EXPECT_EQ(judge(60), V::fits_with_margin);
  EXPECT_EQ(judge(72), V::fits_with_margin);
  EXPECT_EQ(judge(75), V::tight);
  EXPECT_EQ(judge(80), V::tight);
  EXPECT_EQ(judge(80.5), V::over_within_error);
  EXPECT_EQ(judge(88), V::over_within_error);
  EXPECT_EQ(judge(88.5), V::does_not_fit);
}

TEST(MemoryVerdict, WithoutErrorOnlyTheCapacityDecides) {
  EXPECT_EQ(judge_memory(Bytes{80}, Bytes{80}, 0), V::fits_with_margin);
  EXPECT_EQ(judge_memory(Bytes{81}, Bytes{80}, 0), V::does_not_fit);
}

TEST(MemoryVerdict, FitsAndSureFollowFromTheVerdict) {
  for (const V verdict : {V::fits_with_margin, V::tight, V::over_within_error, V::does_not_fit}) {
    EXPECT_EQ(fits(verdict), verdict == V::fits_with_margin || verdict == V::tight);
    EXPECT_EQ(sure(verdict), verdict == V::fits_with_margin || verdict == V::does_not_fit);
  }
}

// A measurement m with estimate / m - 1 inside the band decides: with margin every m fits, with
// does_not_fit none does.
RC_GTEST_PROP(MemoryVerdict, HoldsForEveryMeasurementInTheBand, ()) {
  const double within = *rc::gen::inRange(1, 40) / 100.0;
  const Bytes capacity{double(*rc::gen::inRange(1, 1000))};
  const Bytes total{*rc::gen::inRange(1, 300) / 100.0 * capacity.value};
  const double error = *rc::gen::inRange(-999, 1000) / 1000.0 * within;
  const Bytes measured = total / (1 + error);
  const V verdict = judge_memory(total, capacity, within);
  constexpr double kRounding = 1e-12;
  if (verdict == V::fits_with_margin) RC_ASSERT(measured <= (1 + kRounding) * capacity);
  if (verdict == V::does_not_fit) RC_ASSERT(measured >= (1 - kRounding) * capacity);
  RC_ASSERT(fits(verdict) == (total <= capacity));
}

// The largest total of a verdict has it, and any larger one has a worse verdict.
RC_GTEST_PROP(MemoryVerdict, MaxTotalIsTheBoundary, ()) {
  const double within = *rc::gen::inRange(1, 40) / 100.0;
  const Bytes capacity{double(*rc::gen::inRange(1, 1000))};
  for (const V verdict : {V::fits_with_margin, V::tight, V::over_within_error}) {
    const Bytes max = max_total(verdict, capacity, within);
    RC_ASSERT(judge_memory(max, capacity, within) == verdict);
    RC_ASSERT(judge_memory((1 + 1e-9) * max, capacity, within) > verdict);
  }
}

}  // namespace
}  // namespace rankwright::cost::verdict_test
