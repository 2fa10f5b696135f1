// A failed rank: the cost of a failure for a job that restarts from its last checkpoint, the
// optimal checkpoint interval, and the fraction of time that is useful work (goodput). Failures
// occur at random at a constant rate, also during restarts (Daly 2006). Formulas Z9 to Z13.
#pragma once

#include <optional>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// The failure, restart and checkpoint times of a job.
struct FailureModel {
  Seconds between{};     // mean time between failures of the whole job
  Seconds restart{};     // from a failure until training resumes
  Seconds checkpoint{};  // time to write a checkpoint, during which training stops
};

/// Computes the expected time of `work` and the checkpoint after it, including failures (Z10).
Seconds compute_expected_time(Seconds work, const FailureModel& model);

/// Computes the work between checkpoints that maximizes goodput (Z11).
Seconds find_best_interval(const FailureModel& model);
/// Computes the optimal checkpoint interval in whole steps of duration `step`.
i64 find_best_steps(Seconds step, const FailureModel& model);

/// The fractions of time by use (Z12); the four add up to 1.
struct Uptime {
  Seconds interval{};  // of work between checkpoints
  double useful = 0;
  double checkpoints = 0;
  double lost = 0;  // work that has to be repeated
  double restarts = 0;
  Seconds lost_each{};  // mean work lost per failure
};

/// Computes how the time is spent with a checkpoint after every `interval` of work.
Uptime compute_uptime(Seconds interval, const FailureModel& model);

/// Computes the size of a checkpoint: one copy of parameters and optimizer states (Z13).
Bytes count_checkpoint_bytes(const plan::TrainingConfig& config);
/// Returns the number of nodes that write it: all nodes if ZeRO shards the states, else those of
/// one replica.
i64 count_checkpoint_nodes(const plan::TrainingConfig& config);

/// The number of ranks that hold the same data as one rank, including itself.
struct Copies {
  i64 parameters = 1;
  i64 optimizer = 1;
};

/// Counts the copies of a rank's states. With experts, the smaller of the dense and expert counts.
Copies count_copies(const plan::TrainingConfig& config);

/// The inputs of a failure analysis. The caller fills in published figures for values that the user
/// did not give.
struct FailureTask {
  FailureModel model{};
  std::optional<Seconds> interval{};  // default: the optimal interval
  Seconds hang{};                     // until a hanging rank is detected
};

/// The factor on the time of a checkpoint in Failure::with_slow_storage.
inline constexpr double kSlowStorage = 10;

/// The cost of the failure of one rank.
struct Failure {
  FailureTask task{};
  Seconds step{};
  i64 steps = 0;       // between checkpoints; 0 if the interval was given
  Uptime uptime{};     // if failures are detected at once
  Uptime when_hung{};  // if every failure is a hang
  /// If a checkpoint takes kSlowStorage times as long, at the interval that is then optimal unless
  /// one was given.
  Uptime with_slow_storage{};
  Copies copies{};
  Bytes parameters{}, optimizer{};  // held by the failed rank
};

/// Estimates the cost of a failure of `rank`. Requires: the config has no constraint violation, and
/// `rank` is less than its world size.
Failure estimate_failure(const plan::TrainingConfig& config,
                         const cluster::Calibration& calibration, i64 rank,
                         const FailureTask& task);

}  // namespace rankwright::cost
