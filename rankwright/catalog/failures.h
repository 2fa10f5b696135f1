// Published failure data: how often machines fail, how long jobs take to restart, how fast
// checkpoints are written, when a hang is detected. Each is a row of failures.csv with its source.
// cost/faults/failure.h derives the consequences for a plan.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"
#include "rankwright/base/units.h"

namespace rankwright::catalog {

/// GPUs per node of the published systems.
inline constexpr i64 kNodeGpus = 8;

/// A row of failures.csv.
struct FailureRow {
  enum class Kind : unsigned char { rate, restart, storage, hang };
  Kind kind{};
  std::string name;
  double value = 0;  // rate: per 1000 node-days of 8 GPUs; restart, hang: s; storage: GB/s per node
  i64 gpus = 0;
  std::string system;
  std::string source;
  std::string verified;
  std::string notes;
};
std::span<const FailureRow> list_failure_rows();

/// Returns the default of a kind: its first row.
const FailureRow& usual(FailureRow::Kind kind);

/// Finds a rate by name, ignoring case; an unknown name is RW0908 with the nearest name, or all
/// names.
Result<FailureRow> find_failure_rate(std::string_view name);

/// Returns the mean time between failures of a job on `gpus` GPUs: failures are independent, so it
/// is inversely proportional to the number of GPUs (Z9).
Seconds compute_time_between_failures(const FailureRow& rate, i64 gpus);

/// Returns the published restart time with the nearest number of GPUs.
const FailureRow& find_nearest_restart(i64 gpus);

/// Returns the restart time on `gpus` GPUs: linear interpolation between the published times,
/// beyond them the nearest one.
Seconds estimate_restart_time(i64 gpus);

}  // namespace rankwright::catalog
