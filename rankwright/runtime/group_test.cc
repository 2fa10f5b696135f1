#include "rankwright/runtime/group.h"

#include <gtest/gtest.h>

namespace rankwright::runtime {
namespace {

TEST(PartOf, GivesTheFirstOnesOneMore) {
  // 10 = 3 + 3 + 2 + 2
  EXPECT_EQ(part_of(10, 4, 0).count, 3);
}

}  // namespace
}  // namespace rankwright::runtime
