// Splits a model into pipeline stages so that the weight of the heaviest pp rank is minimal, and
// then that of the heaviest stage (formulas SP1 to SP4). The weights of items and the assignment of
// stages to pp ranks are arguments; cost/work.h computes the weights.
//
// The search has a budget of steps, not of time, so a task has the same answer everywhere. The
// result says whether it was proved optimal.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"
#include "rankwright/plan/stages.h"

namespace rankwright::split {

/// The cost of one item of the model (embedding, layer, MTP module, head) for the pp rank that
/// holds it. Requires: no value is negative.
struct ItemCost {
  double weight = 0;    // in any unit, but the same for all items
  Bytes states{};       // held permanently
  Bytes activations{};  // held per microbatch in flight

  friend bool operator==(const ItemCost&, const ItemCost&) = default;
};

/// A run of `count` consecutive layers with the same cost.
struct ItemRun {
  i64 count = 0;
  ItemCost each{};
};

/// Which pp ranks run which stages. A stage belongs to a team of pp ranks; all ranks of a team hold
/// all its stages, and each runs an equal share of the microbatches through them. Except for
/// DualPipe, a team is one pp rank.
struct StageMap {
  std::vector<i64> team_of_stage{};
  std::vector<i64> team_of_rank{};
};

/// Maps stage s to pp rank s mod pp.
StageMap map_round_robin(i64 pp, i64 chunks);
/// Maps chunks alternately from pp rank 0 up and from the last rank down.
StageMap map_v_shape(i64 pp, i64 chunks);
/// Maps stage s to the pp ranks s and pp - 1 - s (DualPipe).
StageMap map_both_ends(i64 pp);

/// The model to split and the limits of the split.
struct SplitTask {
  ItemCost embedding{};
  std::vector<ItemRun> layers{};
  ItemCost mtp{};  // per module
  i64 mtp_modules = 0;
  // Whether MTP modules may be in different stages; Megatron-LM needs them in one.
  bool mtp_apart = false;
  ItemCost head{};
  StageMap map{};
  std::optional<Bytes> capacity{};  // memory per pp rank for its items; empty: unlimited
  // By pp rank: maximum number of microbatches whose activations it holds.
  std::vector<double> in_flight{};
  i64 steps = 40'000'000;  // step budget of the search; a step takes some nanoseconds
};

/// The result of a split.
struct Split {
  enum class Fault : unsigned char {
    none,
    items,   // fewer items than stages
    memory,  // no split fits the capacity, or none was found
  };
  Fault fault = Fault::none;
  plan::Stages stages{};       // each has at least one item; empty if there is a fault
  double rank_weight = 0;      // of the heaviest pp rank
  double stage_weight = 0;     // of the heaviest stage
  double min_rank_weight = 0;  // lower bound on rank_weight over all splits
  Bytes memory{};              // of the fullest pp rank; with Fault::memory the minimum required
  bool proved = false;         // the result is proved optimal, or proved not to fit
};

/// Computes the best split. Deterministic. Weights have a resolution of one part in 2^48 of their
/// sum: integers below that are exact.
Split find_best_split(const SplitTask& task);

}  // namespace rankwright::split
