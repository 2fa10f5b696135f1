// Reads a table of measured collectives (tests/data/validation/collectives.csv): one call per row,
// on a system of the catalog. Predictions are compared with them in collectives.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/csv.h"
#include "rankwright/base/result.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::validate {

/// One measured call.
struct MeasuredCollective {
  int line = 0;
  std::string system;
  std::size_t setting = 0;  // index in MeasuredCollectives::settings
  plan::Op op{};
  Bytes size{};
  Seconds time{};     // measured time of one call
  Seconds harness{};  // the part of `time` spent in the measuring program, not in the collective
};

/// The setting of a measurement: all ranks are one group, on the first devices of the cluster.
struct CollectiveSetting {
  std::string cluster_name;
  bool plain = false;  // the source switched in-network reduction off
  i64 ranks = 0;
  cluster::Cluster cluster;
  mesh::Span span;
};

/// The rows that were left out for one reason.
struct Unscored {
  std::string reason;
  i64 rows = 0;
  std::vector<std::string> systems;  // in the order of the file
};

/// The contents of a table of measured collectives.
struct MeasuredCollectives {
  std::vector<MeasuredCollective> rows;
  std::vector<CollectiveSetting> settings;
  std::vector<Unscored> unscored;
  std::vector<std::string> systems;  // of the scored rows, in the order of the file
};

/// Returns whether a table has the columns of collectives: system, collective, nranks, bytes,
/// cluster.
bool holds_collectives(const Csv& table);

/// Reads a table of measured collectives. Further columns are time_us, or else busbw_GBps as
/// nccl-tests counts it; algo, where "Ring..." means that nothing was reduced in the network;
/// harness_us; and skip, a reason not to score the row. Incomplete rows are left out with the
/// reason. Fails with RW0904 or RW0908 for an invalid row, and with RW0906 for too many rows or
/// systems.
Result<MeasuredCollectives> read_collectives(const Csv& table, std::string_view file);

}  // namespace rankwright::validate
