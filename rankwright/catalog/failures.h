// What is published of failures: how often machines fail, how long jobs take to come back, how fast
// checkpoints are written, when a hang is noticed. Rows of failures.csv, each with its source; what
// follows from them for a plan is cost/faults/failure.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"
#include "rankwright/base/units.h"

namespace rankwright::catalog {

struct FailureRow {
  enum class Kind : unsigned char { rate, restart, storage, hang };
  Kind kind{};
  std::string name;
  double value = 0;  // rate: 1/1000 node-days of 8 GPUs; restart, hang: s; storage: GB/s a node
  i64 gpus = 0;
  std::string system;
  std::string source;
  std::string verified;
  std::string notes;
};
std::span<const FailureRow> failure_rows();

/// The first row of its kind: the default.
const FailureRow& usual(FailureRow::Kind kind);

/// A rate by name, in either case; an unknown one is RW0908 with the nearest, or all of them.
Result<FailureRow> find_failure_rate(std::string_view name);

/// Mean time between failures of a job on so many GPUs: failures come one by one, so it falls with
/// their number (Z9).
Seconds time_between_failures(const FailureRow& rate, i64 gpus);

/// The published restart of the nearest number of GPUs.
const FailureRow& nearest_restart(i64 gpus);

/// Between the published restarts a straight line, beyond them the nearest: seconds.
Seconds usual_restart(i64 gpus);

}  // namespace rankwright::catalog
