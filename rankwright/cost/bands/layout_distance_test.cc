#include "rankwright/cost/bands/layout_distance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/support/any_config.h"

namespace rankwright::cost {
namespace layout_distance_test {

const catalog::ValidatedLayout kOne{.sparse = false,
                                    .generation = "hopper",
                                    .tp = 8,
                                    .cp = 1,
                                    .pp = 4,
                                    .ep = 1,
                                    .fsdp = false,
                                    .sequence = 8192,
                                    .billions = 70};

// tp 8 to 2 is two doublings, sequence 8k to 32k two halves, 70 to 35 billion one half, ZeRO-3 one:
// 2 + 1 + 0.5 + 1 = 4.5.
TEST(LayoutDistance, AddsDoublings) {
  catalog::ValidatedLayout other = kOne;
  other.tp = 2;
  other.sequence = 32768;
  other.billions = 35;
  other.fsdp = true;
  EXPECT_DOUBLE_EQ(layout_distance(kOne, other), 4.5);
  other.generation = "ampere";
  EXPECT_DOUBLE_EQ(layout_distance(kOne, other), 5.5);
}

// Runs with experts and FSDP say nothing about those without, and the reverse.
TEST(LayoutDistance, FsdpWithExperts_IsNotNearOthers) {
  catalog::ValidatedLayout experts = kOne;
  experts.sparse = true;
  catalog::ValidatedLayout other = experts;
  other.fsdp = true;
  EXPECT_GT(layout_distance(experts, other), kNearLayout);
}

TEST(LayoutDistance, Zero2_IsFsdpOnlyWithExperts) {
  EXPECT_FALSE(is_fsdp(false, 2));
  EXPECT_TRUE(is_fsdp(false, 3));
  EXPECT_FALSE(is_fsdp(true, 1));
  EXPECT_TRUE(is_fsdp(true, 2));
}

TEST(LayoutDistance, ADenseModelIsFarFromExperts) {
  catalog::ValidatedLayout experts = kOne;
  experts.sparse = true;
  EXPECT_TRUE(std::isinf(layout_distance(kOne, experts)));
}

RC_GTEST_PROP(LayoutDistance, IsAMetric, ()) {
  const catalog::ValidatedLayout a = make_layout(any_config::random_config()),
                                 b = make_layout(any_config::random_config()),
                                 c = make_layout(any_config::random_config());
  RC_ASSERT(layout_distance(a, a) == 0);
  RC_ASSERT(layout_distance(a, b) == layout_distance(b, a));
  RC_ASSERT(layout_distance(a, c) <= layout_distance(a, b) + layout_distance(b, c) + 1e-9);
}

}  // namespace layout_distance_test
}  // namespace rankwright::cost
