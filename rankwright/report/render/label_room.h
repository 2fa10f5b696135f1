// Where the labels of points can stand without touching each other, a point, or the frame. Greedy:
// who asks first has its place.
#pragma once

#include <optional>
#include <vector>

namespace rankwright::report {

struct LabelBox {
  double left = 0, top = 0, right = 0, bottom = 0;

  bool inside(const LabelBox& other) const {
    return left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom;
  }
  bool touches(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

class LabelRoom {
 public:
  explicit LabelRoom(LabelBox frame) : frame_(frame) {}

  void block(const LabelBox& box) { taken_.push_back(box); }

  /// A free box of this size beside a point, nearest first and at most `farthest` pixels away;
  /// taken from then on.
  std::optional<LabelBox> take(double x, double y, double width, double height, double farthest);

 private:
  bool is_free(const LabelBox& box) const;

  LabelBox frame_;
  std::vector<LabelBox> taken_{};
};

}  // namespace rankwright::report
