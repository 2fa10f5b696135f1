#include "rankwright/runtime/counters.h"

#include "rankwright/base/check.h"

namespace rankwright::runtime {

void Counters::add(plan::TrafficKind kind, plan::Op op, mesh::GroupKind group, int level,
                   Bytes bytes) {
  TrafficCount& counted = by_kind_[std::size_t(kind)];
  plan::Traffic& traffic = counted.traffic;
  if (traffic.calls == 0) {
    traffic = {.kind = kind, .op = op, .group = group};
    counted.level = level;
  }
  // A kind is one row of Traffic, so all its calls have the same op and group.
  RW_CHECK(traffic.op == op && traffic.group == group && counted.level == level);
  ++traffic.calls;
  traffic.total += bytes;
}

void Counters::waited(plan::TrafficKind kind, Seconds time) {
  by_kind_[std::size_t(kind)].waited += time;
}

Seconds Counters::waited(plan::TrafficKind kind) const {
  return by_kind_[std::size_t(kind)].waited;
}

void Counters::clear() { by_kind_ = {}; }

std::vector<TrafficCount> Counters::rows() const {
  std::vector<TrafficCount> all;
  for (const TrafficCount& counted : by_kind_)
    if (counted.traffic.calls > 0) all.push_back(counted);
  return all;
}

}  // namespace rankwright::runtime
