// Places the labels of points so that they overlap neither each other, nor a point, nor the
// frame's edge. Greedy: earlier requests get the better positions.
#pragma once

#include <optional>
#include <vector>

namespace rankwright::report {

/// A rectangle in pixels; y grows downwards.
struct LabelBox {
  double left = 0, top = 0, right = 0, bottom = 0;

  bool inside(const LabelBox& other) const {
    return left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom;
  }
  bool touches(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// The free space for labels inside a frame.
class LabelRoom {
 public:
  explicit LabelRoom(LabelBox frame) : frame_(frame) {}

  /// Marks a box as occupied.
  void block(const LabelBox& box) { taken_.push_back(box); }

  /// Reserves a free box of this size as near to the point as possible, at most `farthest`
  /// pixels away, and inside `side`. Returns nothing if there is none.
  std::optional<LabelBox> take(double x, double y, double width, double height, double farthest,
                               const LabelBox& side);
  std::optional<LabelBox> take(double x, double y, double width, double height, double farthest) {
    return take(x, y, width, height, farthest, frame_);
  }

 private:
  bool is_free(const LabelBox& box) const;

  LabelBox frame_;
  std::vector<LabelBox> taken_{};
};

}  // namespace rankwright::report
