// Measured collectives as a table of them is read (tests/data/validation/collectives.csv): one call
// a row, on a system of the catalog. What it should have taken is decided in collectives.h.
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

struct MeasuredCollective {
  int line = 0;
  std::string system;
  std::size_t setting = 0;  // of MeasuredCollectives::settings
  plan::Op op{};
  Bytes size{};
  Seconds time{};     // of one call, as it was measured
  Seconds harness{};  // of that the program that measured it, not the collective
};

/// Where a collective ran: all ranks are one group, on the first devices of the cluster.
struct CollectiveSetting {
  std::string cluster_name;
  bool plain = false;  // the source switched in-network reduction off
  i64 ranks = 0;
  cluster::Cluster cluster;
  mesh::Span span;
};

/// Rows that were left out for one reason.
struct Unscored {
  std::string reason;
  i64 rows = 0;
  std::vector<std::string> systems;  // in the order of the file
};

struct MeasuredCollectives {
  std::vector<MeasuredCollective> rows;
  std::vector<CollectiveSetting> settings;
  std::vector<Unscored> unscored;
  std::vector<std::string> systems;  // that have a row, in the order of the file
};

/// The columns that make a table one of collectives: system, collective, nranks, bytes, cluster.
bool holds_collectives(const Csv& table);

/// What it reads of a row besides: time_us, or else busbw_GBps as nccl-tests counts it; algo, where
/// "Ring..." says that nothing was reduced in the network; harness_us; skip, a reason not to score
/// the row. A row that lacks something is left out, with the reason; one that is wrong is RW0904 or
/// RW0908, more rows or systems than can be scored is RW0906.
Result<MeasuredCollectives> read_collectives(const Csv& table, std::string_view file);

}  // namespace rankwright::validate
