// The cluster as it is drawn: nested domains with every rank in its place, and which of them form a
// group. Where there are too many, domains that simulate the same part are folded into one that
// stands for all of them, as much as is needed and no more. Geometry and colours are up to the
// drawing.
#pragma once

#include <string>
#include <vector>

#include "rankwright/mesh/placement.h"
#include "rankwright/plan/plan.h"

namespace rankwright::planner {

struct MapDevice {
  i64 device = 0;
  i64 rank = -1;       // -1: idle
  i64 stands_for = 1;  // devices of the cluster
};

/// One domain of a level; `count` that simulate the same part lie in the domain above.
struct MapDomain {
  int level = 0;
  i64 index = 0;  // which domain of its level: the first of those that it stands for
  i64 count = 1;
  std::vector<MapDomain> domains{};    // below it; none in an innermost one
  std::vector<std::size_t> devices{};  // of an innermost one: which of the map
};

struct MapGroups {
  mesh::GroupKind kind{};
  mesh::Span span{};
  i64 groups = 0;  // of the world
  /// By device of the map: which group it is in, numbered as they come; those of folded ranks that
  /// meet in one device are one. -1: idle.
  std::vector<i64> of_device{};
};

struct RankMap {
  MapDomain root{};
  std::vector<MapDevice> devices{};
  std::vector<MapGroups> groups{};  // of more than one rank, as shown_groups() has them
  bool folded = false;
  std::string words{};  // what a box is
};

inline constexpr i64 kMaxMapDevices = 512;

/// The config has no violation. In time and memory that grow with the cluster's devices.
RankMap rank_map(const plan::TrainingConfig& config, i64 max = kMaxMapDevices);

/// The kinds of groups that a person asks for, in the order of the worksheet: those of more than
/// one rank.
std::vector<mesh::GroupKind> shown_groups(const plan::TrainingConfig& config);

}  // namespace rankwright::planner
