// One dead rank: what a failure costs a job that restarts from its last checkpoint, the best
// interval between checkpoints, and the share of time that is useful work. Failures come at random
// at a constant rate, also while the job restarts (Daly 2006). Formulas Z9 to Z13.
#pragma once

#include <optional>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// How a job fails and comes back.
struct FailureModel {
  Seconds between{};     // failures, of the whole job
  Seconds restart{};     // until it trains again
  Seconds checkpoint{};  // writing one; training stands still
};

/// Z10: what `work` and the checkpoint behind it take, with all failures in between.
Seconds expected_time(Seconds work, const FailureModel& model);

/// Z11: the work between checkpoints that wastes least; whole steps are best_steps.
Seconds best_interval(const FailureModel& model);
i64 best_steps(Seconds step, const FailureModel& model);

/// Z12: where the time goes; the four shares add up to 1.
struct Uptime {
  Seconds interval{};  // of work between checkpoints
  double useful = 0;
  double checkpoints = 0;
  double lost = 0;  // work that was done and is done again
  double restarts = 0;
  Seconds lost_each{};  // work that one failure destroys, on average
};
Uptime uptime(Seconds interval, const FailureModel& model);

/// Z13: one checkpoint is one copy of parameters and optimizer states.
Bytes checkpoint_bytes(const plan::TrainingConfig& config);
/// Nodes that write it: all where ZeRO has spread the states, else those of one replica.
i64 checkpoint_nodes(const plan::TrainingConfig& config);

/// Ranks that hold the same as one rank does, itself among them.
struct Copies {
  i64 parameters = 1;
  i64 optimizer = 1;
};
Copies copies(const plan::TrainingConfig& config);

/// What is asked about a job; what is left open is filled by who knows the published figures.
struct FailureTask {
  FailureModel model{};
  std::optional<Seconds> interval{};  // else the best
  Seconds hang{};                     // until a rank that hangs is noticed
};

struct Failure {
  FailureTask task{};
  Seconds step{};
  i64 steps = 0;       // between checkpoints; 0 where an interval was stated
  Uptime uptime{};     // a rank that dies is noticed at once
  Uptime when_hung{};  // every failure is a hang
  Copies copies{};
  Bytes parameters{}, optimizer{};  // of the dead rank
};
/// `rank` of the plan; the config has no violation.
Failure failure(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                i64 rank, const FailureTask& task);

}  // namespace rankwright::cost
