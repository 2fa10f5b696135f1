// Where the domains and devices of a RankMap stand when they are drawn: boxes in boxes, their
// contents in rows, a bar above each row from which links run to what hangs on it. Geometry only.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/planner/explain/rank_map.h"

namespace rankwright::report {

struct PlacedDevice {
  std::size_t device = 0;  // of the map
  double x = 0, y = 0;     // a square's corner
};

struct PlacedDomain {
  const planner::MapDomain* domain = nullptr;
  double x = 0, y = 0, width = 0, height = 0;
  std::vector<double> bars{};  // where each row's bar is, from the top
  std::vector<PlacedDomain> domains{};
  std::vector<PlacedDevice> devices{};

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// What the drawing asks for.
struct ClusterSizes {
  double left = 0, top = 0;
  double side = 0;    // of a device's square
  double widest = 0;  // of the whole
  /// What the words of a domain take.
  std::function<double(const planner::MapDomain&)> heading{};
};

// Inside a domain: its words stand above its first bar, between its edges; a line that joins its
// bars runs down beside the left edge; a stub is from a bar to what hangs on it.
inline constexpr double kDomainHead = 19, kDomainLeft = 14, kDomainRight = 9;
inline constexpr double kDomainTrunk = 7, kDomainStub = 6;

/// Of all numbers of devices in a row the one that makes it least high.
PlacedDomain cluster_layout(const planner::MapDomain& root, const ClusterSizes& sizes);

}  // namespace rankwright::report
