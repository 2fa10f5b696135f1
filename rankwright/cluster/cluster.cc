#include "rankwright/cluster/cluster.h"

#include "rankwright/base/check.h"

namespace rankwright::cluster {

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::data_sheet:
      return "data sheet";
    case Origin::calibrated:
      return "calibrated";
    case Origin::measured:
      return "measured";
    case Origin::assumed:
      return "assumed";
  }
  return "assumed";
}

i64 Cluster::domain(int level) const {
  RW_CHECK(level >= -1 && level < int(levels.size()));
  i64 devices = 1;
  for (int k = 0; k <= level; ++k) devices *= levels[std::size_t(k)].arity;
  return devices;
}

BytesPerSecond Cluster::uplink(int level) const {
  RW_CHECK(level >= 0 && level < int(levels.size()));
  const Level& link = levels[std::size_t(level)];
  const i64 owners = link.per == Level::Per::device ? domain(level - 1) : 1;
  return owners * link.bandwidth / link.oversubscription;
}

}  // namespace rankwright::cluster
