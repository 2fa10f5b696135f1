// Counters record what one rank actually sent, per kind of traffic, with the group and the network
// level that it crossed. The units are those of plan::Traffic (calls, and bytes of a call's full
// logical tensor), so that both can be compared row by row. They also record the time spent
// waiting.
#pragma once

#include <array>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::runtime {

/// The counts of one kind of traffic on one rank.
struct TrafficCount {
  plan::Traffic traffic{};
  int level = -1;    // the outermost cluster level that the group crosses
  Seconds waited{};  // in blocking calls and in waits for nonblocking ones
};

class Counters {
 public:
  void add(plan::TrafficKind kind, plan::Op op, mesh::GroupKind group, int level, Bytes bytes);
  void waited(plan::TrafficKind kind, Seconds time);
  void clear();

  /// Returns the time waited for `kind`. Unlike rows(), it includes kinds that were only received.
  Seconds waited(plan::TrafficKind kind) const;
  /// Returns the kinds with at least one call, in the order of TrafficKind.
  std::vector<TrafficCount> rows() const;

 private:
  static constexpr std::size_t kKinds = std::size_t(plan::TrafficKind::gradient_norm) + 1;
  std::array<TrafficCount, kKinds> by_kind_{};
};

}  // namespace rankwright::runtime
