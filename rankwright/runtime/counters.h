// Counters: what one rank really sent, by what it was for, the group and the level it crossed,
// counted as Traffic counts: calls, and bytes of the full logical tensor of a call. So that the two
// can be compared row by row, for equality. Also how long the rank waited for it.
#pragma once

#include <array>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::runtime {

/// One kind of traffic on one rank.
struct Counted {
  plan::Traffic traffic{};
  int level = -1;    // the outermost level of the cluster that the group crosses
  Seconds waited{};  // inside calls, and for calls begun before
};

class Counters {
 public:
  void add(plan::TrafficKind kind, plan::Op op, mesh::GroupKind group, int level, Bytes bytes);
  void waited(plan::TrafficKind kind, Seconds time);
  void clear();

  /// Also of a rank that only receives, which has no row.
  Seconds waited(plan::TrafficKind kind) const;
  /// In the order of TrafficKind; those that never happened are left out.
  std::vector<Counted> rows() const;

 private:
  static constexpr std::size_t kKinds = std::size_t(plan::TrafficKind::gradient_norm) + 1;
  std::array<Counted, kKinds> by_kind_{};
};

}  // namespace rankwright::runtime
