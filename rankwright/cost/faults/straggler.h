// One slow rank: what the whole mesh loses when a rank computes k times as long as the others, who
// waits for it and where. Its own collectives are not slower: the others stand in them and wait.
// Where the step is small it is simulated, else the closed form of the pipeline is asked with the
// slow stage in it. Formulas Z1 to Z4. What would hurt less is relief.h.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cost/step.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/simulate.h"

namespace rankwright::cost {

/// Everything that `rank` computes takes `factor` times as long; below 1 it is faster.
struct SlowRank {
  i64 rank = 0;
  double factor = 1;
};

/// The factors that mean something: 0.1 to 100.
inline constexpr double kMinFactor = 0.1, kMaxFactor = 100;

/// Where data-parallel replicas wait for each other: once a step, in every layer with experts, or
/// at every gather of ZeRO-3.
enum class ReplicasMeet : unsigned char { never, gradients, experts, gathers };
ReplicasMeet replicas_meet(const plan::Plan& plan);

/// Its groups may have to be counted one by one on very many ranks: a price then takes long, and
/// fewer alternatives are tried.
bool prices_slowly(const plan::TrainingConfig& config);

/// A config whose steps are priced with some ranks slow. `simulate`: where that is small enough.
class SlowSteps {
 public:
  SlowSteps(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
            bool simulate);

  bool simulated() const { return program_.has_value(); }
  Seconds healthy() const { return whole_.total(); }
  /// Z1 to Z3. Ranks are of the plan, none of them twice.
  Seconds step(std::span<const SlowRank> slow) const;

  /// By pp rank: how much longer the cells take of the replica that `rank` is in.
  std::vector<double> factors(std::span<const SlowRank> slow, i64 rank) const;
  /// A replica without them: all factors 1.
  std::vector<double> no_factors() const {
    return std::vector<double>(std::size_t(plan().pp), 1.0);
  }
  Seconds end(const std::vector<double>& factors) const;
  /// What a pp rank is in cells in a step, and what of it it computes itself.
  Seconds busy(i64 pp_rank) const;
  Seconds compute(i64 pp_rank) const;

 private:
  const plan::Plan& plan() const { return config_.plan; }
  double stage_factor(i64 stage, const std::vector<double>& factors) const;
  Seconds play_end(const std::vector<double>& factors) const;
  i64 unit(i64 rank) const;

  const plan::TrainingConfig& config_;
  pipeline::PipelineShape shape_;
  mesh::MeshPair meshes_;
  StepTime whole_;
  CellTimes cells_;
  bool coupled_ = false;                     // replicas wait for each other inside layers
  std::vector<std::vector<i64>> holders_{};  // by stage: pp ranks
  std::optional<program::Program> program_{};
  program::Durations durations_{};
  Seconds healthy_end_{};
};

struct Straggler {
  std::vector<SlowRank> slow{};
  Seconds before{}, after{};  // steps of the whole job
  bool simulated = false;     // else by the closed form
  ReplicasMeet meet = ReplicasMeet::never;
  i64 waited_for = 0;  // the slow rank whose replica is the last

  struct PpRank {
    double factor = 1;
    Seconds busy{};   // in cells, before
    Seconds extra{};  // that its slow rank computes longer
  };
  std::vector<PpRank> ranks{};  // of that replica

  /// Z4: the step with the device of `waited_for` on another pp rank, in the same place otherwise.
  struct Place {
    i64 pp_rank = 0;
    Seconds after{};
  };
  std::vector<Place> places{};  // many pp ranks: evenly spaced ones, with the first and the last
  i64 now = 0;                  // index in places
  i64 best = 0;

  double lost() const { return 1 - before / after; }  // of the throughput
};

/// At least one slow rank; the config has no violation.
Straggler straggler(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                    std::span<const SlowRank> slow);

}  // namespace rankwright::cost
