#include "rankwright/report/render/label_room.h"

#include <algorithm>
#include <iterator>

namespace rankwright::report {

bool LabelRoom::is_free(const LabelBox& box) const {
  return box.inside(frame_) && std::none_of(taken_.begin(), taken_.end(),
                                            [&](const LabelBox& t) { return box.touches(t); });
}

std::optional<LabelBox> LabelRoom::take(double x, double y, double width, double height,
                                        double farthest, const LabelBox& side) {
  // Right, left, above and below come first, with the box centered on that side. The corners
  // come last: a label there needs a line to its point.
  struct Direction {
    int x, y;
  };
  constexpr std::size_t kStraight = 4;
  constexpr Direction kDirections[] = {{1, 0},  {-1, 0}, {0, -1},  {0, 1},
                                       {1, -1}, {1, 1},  {-1, -1}, {-1, 1}};
  constexpr double kNearest = 9, kFarther = 1.4;
  for (double away = kNearest; away <= farthest; away *= kFarther)
    for (std::size_t k = 0; k < (away > kNearest ? std::size(kDirections) : kStraight); ++k) {
      const Direction direction = kDirections[k];
      const double middle_x = x + direction.x * (away + width / 2);
      const double middle_y = y + direction.y * (away + height / 2);
      const LabelBox box{middle_x - width / 2, middle_y - height / 2, middle_x + width / 2,
                         middle_y + height / 2};
      if (!box.inside(side) || !is_free(box)) continue;
      taken_.push_back(box);
      return box;
    }
  return std::nullopt;
}

}  // namespace rankwright::report
