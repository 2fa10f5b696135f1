// Stragglers: the loss of the whole mesh if a rank computes k times as long as the others, and
// which ranks wait for it where (formulas Z1 to Z4). Collectives do not become slower; the other
// ranks wait in them. Small steps are simulated; for others the closed form of the pipeline is
// evaluated with the slow stage. Mitigations are in straggler_mitigation.h.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/step.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/simulate.h"

namespace rankwright::cost {

/// A rank whose computation takes `factor` times as long; below 1 it is faster.
struct SlowRank {
  i64 rank = 0;
  double factor = 1;
};

/// The fraction of a step below which a gain is within the noise of a measurement, so a mitigation
/// that gains less is not offered. Slow links use it too.
inline constexpr double kMinMitigationGain = 0.02;

/// The allowed range of factors.
inline constexpr double kMinFactor = 0.1, kMaxFactor = 100;

/// Where data-parallel replicas synchronize: in the gradient reduction once per step, in every
/// layer with experts, or at every ZeRO-3 gather.
enum class ReplicaSync : unsigned char { never, gradients, experts, gathers };
/// Returns where the replicas of a plan synchronize.
ReplicaSync find_replica_sync(const plan::Plan& plan);

/// Returns whether an evaluation of the config takes long, because groups have to be counted one by
/// one on very many ranks. Callers then try fewer alternatives.
bool is_slow_to_evaluate(const plan::TrainingConfig& config);

/// Estimates the step time of a config with some slow ranks.
class SlowSteps {
 public:
  /// `simulate`: simulates the step if it is small enough; otherwise uses the closed form.
  SlowSteps(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
            bool simulate);

  bool simulated() const { return program_.has_value(); }
  /// Returns the step time without slow ranks.
  Seconds healthy() const { return whole_.total(); }
  /// Estimates the step time (Z1 to Z3). Requires: the ranks exist in the plan and are distinct.
  Seconds step(std::span<const SlowRank> slow) const;

  /// Returns, by pp rank, the slowdown factor of the cells in the replica of `rank`.
  std::vector<double> factors(std::span<const SlowRank> slow, i64 rank) const;
  /// Returns the factors of a replica without slow ranks: all 1.
  std::vector<double> no_factors() const {
    return std::vector<double>(std::size_t(plan().pp), 1.0);
  }
  /// Estimates when a replica with these factors ends its step (Z2).
  Seconds end(const std::vector<double>& factors) const;
  /// Returns the time per step that a pp rank spends in cells, and the part of it that computes.
  Seconds busy(i64 pp_rank) const;
  Seconds compute(i64 pp_rank) const;

 private:
  const plan::Plan& plan() const { return config_.plan; }
  double stage_factor(i64 stage, const std::vector<double>& factors) const;
  Seconds simulate_end(const std::vector<double>& factors) const;
  i64 unit(i64 rank) const;

  const plan::TrainingConfig& config_;
  pipeline::PipelineShape shape_;
  mesh::MeshPair meshes_;
  StepTime whole_;
  CellTimes cells_;
  bool coupled_ = false;                     // replicas synchronize inside layers
  std::vector<std::vector<i64>> holders_{};  // by stage: pp ranks
  std::optional<program::Program> program_{};
  program::Durations durations_{};
  Seconds healthy_end_{};
};

/// The effect of slow ranks on a step.
struct Straggler {
  std::vector<SlowRank> slow{};
  Seconds before{}, after{};  // step time of the whole job
  bool simulated = false;     // false: closed form
  ReplicaSync meet = ReplicaSync::never;
  i64 waited_for = 0;  // the slow rank whose replica ends last

  struct PpRank {
    double factor = 1;
    Seconds busy{};   // time in cells without the slowdown
    Seconds extra{};  // additional computation time of its slow rank
  };
  std::vector<PpRank> ranks{};  // of that replica

  /// The step time with the device of `waited_for` moved to another pp rank, other coordinates
  /// unchanged (Z4).
  struct Place {
    i64 pp_rank = 0;
    Seconds after{};
  };
  std::vector<Place> places{};  // all pp ranks, or evenly spaced ones with the first and the last
  i64 now = 0;                  // index in places
  i64 best = 0;                 // index in places

  /// Returns the fraction of the throughput that is lost.
  double lost() const { return 1 - before / after; }
};

/// Estimates the effect of slow ranks. Requires: at least one slow rank; the config has no
/// constraint violation.
Straggler estimate_straggler(const plan::TrainingConfig& config,
                             const cluster::Calibration& calibration,
                             std::span<const SlowRank> slow);

}  // namespace rankwright::cost
