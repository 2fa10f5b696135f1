// Reads a table of measured collectives (tests/data/validation/collectives.csv), or of dispatches
// of tokens to experts (alltoall.csv): one call per row, on a system of the catalog. Predictions
// are compared with them in collectives.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/csv.h"
#include "rankwright/base/result.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::validate {

enum class CallKind : unsigned char { collective, dispatch, combine };

/// One measured call.
struct MeasuredCollective {
  int line = 0;
  std::string system;
  std::size_t setting = 0;  // index in MeasuredCollectives::settings
  CallKind kind{};
  plan::Op op{};
  Bytes size{};
  Seconds time{};     // measured time of one call
  Seconds harness{};  // the part of `time` spent in the measuring program, not in the collective
};

/// How tokens are dispatched to experts, one group of which is on all ranks.
struct DispatchSetting {
  plan::Dispatcher dispatcher{};
  i64 hidden = 0, copies = 0;         // of a token: its elements; its experts
  i64 groups = 0, active_groups = 0;  // of group-limited routing; 0 without
  i64 processors = 0;                 // multiprocessors of the dispatcher's kernels; 0: the default

  friend bool operator==(const DispatchSetting&, const DispatchSetting&) = default;
};

/// The setting of a measurement: all ranks are one group, on the first devices of the cluster.
struct CollectiveSetting {
  std::string cluster_name;
  bool plain = false;  // the source switched in-network reduction off
  i64 ranks = 0;
  cluster::Cluster cluster;
  mesh::Span span;
  std::optional<DispatchSetting> dispatch{};
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
  bool dispatches = false;           // some row is a dispatch or combine
};

/// Returns whether a table has the columns of collectives: system, collective, nranks, bytes,
/// cluster.
bool holds_collectives(const Csv& table);

/// Reads a table of measured collectives. Further columns are time_us, or else busbw_GBps as
/// nccl-tests counts it; algo, where "Ring..." means that nothing was reduced in the network;
/// harness_us; and skip, a reason not to score the row.
///
/// A dispatch or combine has no bytes but dispatcher, tokens, hidden, topk, dtype (bf16 or fp8)
/// and, if they apply, groups, active_groups and sms. Its rate, if it has no time, is rank_GBps,
/// which counts each token once per rank, or node_GBps, once per node; both count the sender's own
/// too, as DeepEP's tests do. `copied` marks a time that includes one copy of the received tokens,
/// which plans count as permutation. Such a column `dispatcher` on an all_to_all adds the
/// dispatcher's fixed time.
///
/// Incomplete rows are left out with the reason. Fails with RW0904 or RW0908 for an invalid row,
/// and with RW0906 for too many rows or systems.
Result<MeasuredCollectives> read_collectives(const Csv& table, std::string_view file);

}  // namespace rankwright::validate
