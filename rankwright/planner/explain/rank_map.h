// The cluster as it is drawn: nested domains with every rank in its place, and the groups. If there
// are too many devices, domains with the same role are folded into one that represents all of them,
// only as far as necessary. Geometry and colors are left to the drawing.
#pragma once

#include <string>
#include <vector>

#include "rankwright/mesh/placement.h"
#include "rankwright/plan/plan.h"

namespace rankwright::planner {

/// One device of the map.
struct MapDevice {
  i64 device = 0;
  i64 rank = -1;       // -1: idle
  i64 stands_for = 1;  // number of the cluster's devices that it represents
};

/// One domain of a level. It represents `count` domains with the same role inside the parent
/// domain.
struct MapDomain {
  int level = 0;
  i64 index = 0;  // number of the domain in its level: the first of those that it represents
  i64 count = 1;
  std::vector<MapDomain> domains{};    // child domains; empty if innermost
  std::vector<std::size_t> devices{};  // of an innermost domain: indices into the map's devices
};

/// The groups of one kind.
struct MapGroups {
  mesh::GroupKind kind{};
  mesh::Span span{};
  i64 groups = 0;  // in the whole world
  /// The group of each device of the map, numbered in order of appearance; -1: idle. Groups that
  /// meet in one device because of folding count as one.
  std::vector<i64> of_device{};
};

/// The drawn cluster.
struct RankMap {
  MapDomain root{};
  std::vector<MapDevice> devices{};
  std::vector<MapGroups>
      groups{};  // groups of more than one rank, in the order of list_shown_groups()
  bool folded = false;
  std::string words{};  // describes what a box represents
};

inline constexpr i64 kMaxMapDevices = 512;

/// Builds the map with at most `max` devices if folding allows it. Time and memory grow linearly
/// with the cluster's devices. Requires: a config without constraint violations.
RankMap make_rank_map(const plan::TrainingConfig& config, i64 max = kMaxMapDevices);

/// Returns the kinds of groups to show, those of more than one rank, in the order of explain's
/// axes.
std::vector<mesh::GroupKind> list_shown_groups(const plan::TrainingConfig& config);

}  // namespace rankwright::planner
