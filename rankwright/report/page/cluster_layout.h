// Computes where the domains and devices of a RankMap are drawn: nested boxes with their contents
// in rows, and above each row a bar that links it to its members. Geometry only.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/planner/explain/rank_map.h"

namespace rankwright::report {

/// A device of the map with its position.
struct PlacedDevice {
  std::size_t device = 0;  // index into the map
  double x = 0, y = 0;     // top left corner of its square
};

/// A domain with its position and contents, in pixels.
struct PlacedDomain {
  const planner::MapDomain* domain = nullptr;
  double x = 0, y = 0, width = 0, height = 0;
  std::vector<double> bars{};  // y of the bar above each row
  std::vector<PlacedDomain> domains{};
  std::vector<PlacedDevice> devices{};

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// The sizes that the drawing asks for, in pixels.
struct ClusterSizes {
  double left = 0, top = 0;
  double side = 0;    // of a device's square
  double widest = 0;  // maximum width of the drawing
  /// Returns the width of a domain's title.
  std::function<double(const planner::MapDomain&)> heading{};
};

// Lengths inside a domain: the title is above its first bar; the trunk, a line down the left edge,
// joins the bars; a stub links a bar to each member of its row.
inline constexpr double kDomainHead = 19, kDomainLeft = 14, kDomainRight = 9;
inline constexpr double kDomainTrunk = 7, kDomainStub = 6;

/// Computes the layout with the number of devices per row that makes it lowest.
PlacedDomain compute_cluster_layout(const planner::MapDomain& root, const ClusterSizes& sizes);

}  // namespace rankwright::report
