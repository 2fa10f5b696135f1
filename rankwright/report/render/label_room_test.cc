#include "rankwright/report/render/label_room.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright::report {
namespace label_room_test {

constexpr LabelBox kFrame{0, 0, 400, 300};

TEST(LabelRoom, PlacesALabelRightThenLeft) {
  LabelRoom room(kFrame);
  // Nine pixels from the point, vertically centered on it.
  const std::optional<LabelBox> right = room.take(100, 50, 40, 12, 10);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->left, 109);
  EXPECT_EQ(right->top, 44);
  const std::optional<LabelBox> left = room.take(100, 50, 40, 12, 10);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->right, 91);
}

TEST(LabelRoom, ReturnsNothingWhenNearbySpaceIsTaken) {
  LabelRoom room(kFrame);
  room.block({50, 0, 150, 100});
  EXPECT_FALSE(room.take(100, 50, 40, 12, 10));
  EXPECT_TRUE(room.take(100, 50, 40, 12, 100));
  EXPECT_FALSE(LabelRoom({0, 0, 30, 30}).take(15, 15, 40, 12, 100));
}

RC_GTEST_PROP(LabelRoom, NeverReservesTheSameSpaceTwice, ()) {
  LabelRoom room(kFrame);
  std::vector<LabelBox> given;
  for (int k = 0; k < 40; ++k) {
    const auto number = [](int max) { return double(*rc::gen::inRange(0, max)); };
    const std::optional<LabelBox> box =
        room.take(number(400), number(300), 10 + number(120), 12, number(200));
    if (!box) continue;
    RC_ASSERT(box->inside(kFrame));
    for (const LabelBox& other : given) RC_ASSERT(!box->touches(other));
    given.push_back(*box);
  }
}

}  // namespace label_room_test
}  // namespace rankwright::report
