// Where to cut a model into pipeline stages: so that the heaviest pp rank is as light as it can be,
// and then the heaviest stage (formulas SP1 to SP4). Pure: what an item weighs and which pp rank
// runs which stage are arguments; cost/work.h says what a model's items weigh.
//
// It is a search with a budget of steps, not of time: the same task has the same answer everywhere,
// and an answer that was not proved best says so.
#pragma once

#include <optional>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"
#include "rankwright/plan/stages.h"

namespace rankwright::split {

/// What one item of the model (embedding, layer, MTP module, head) costs the pp rank that has it.
/// Nothing is negative.
struct ItemCost {
  double weight = 0;    // in any unit, the same for all
  Bytes states{};       // held all the time
  Bytes activations{};  // held for every microbatch in flight

  friend bool operator==(const ItemCost&, const ItemCost&) = default;
};

/// `count` consecutive layers that cost the same.
struct ItemRun {
  i64 count = 0;
  ItemCost each{};
};

/// Which pp ranks run which stages. A stage belongs to a team of pp ranks; all ranks of a team hold
/// all stages of the team, and each runs an equal share of the microbatches through them. But for
/// DualPipe a team is one pp rank.
struct StageMap {
  std::vector<i64> team_of_stage{};
  std::vector<i64> team_of_rank{};
};

/// Stage s on pp rank s mod pp.
StageMap round_map(i64 pp, i64 chunks);
/// Chunks in turn from pp rank 0 up and from the last rank down.
StageMap vee_map(i64 pp, i64 chunks);
/// DualPipe: stage s on the pp ranks s and pp - 1 - s.
StageMap both_ends_map(i64 pp);

struct SplitTask {
  ItemCost embedding{};
  std::vector<ItemRun> layers{};
  ItemCost mtp{};  // one module
  i64 mtp_modules = 0;
  bool mtp_apart = false;  // Megatron-LM wants all MTP modules in one stage
  ItemCost head{};
  StageMap map{};
  std::optional<Bytes> capacity{};  // of a pp rank, for its items; without it memory is no matter
  std::vector<double> in_flight{};  // by pp rank: microbatches whose activations it holds at most
  i64 steps = 40'000'000;           // that the search may take; one is some nanoseconds
};

struct Split {
  enum class Fault : unsigned char {
    none,
    items,   // fewer items than stages
    memory,  // no split fits into the capacity, or none was found
  };
  Fault fault = Fault::none;
  plan::Stages stages{};       // each has at least one item; empty with a fault
  double rank_weight = 0;      // of the heaviest pp rank
  double stage_weight = 0;     // of the heaviest stage
  double min_rank_weight = 0;  // no split has a lighter heaviest pp rank
  Bytes memory{};              // of the fullest pp rank; with Fault::memory the least it needs
  bool proved = false;         // that nothing is better, or nothing fits
};

/// The same task has the same answer. Weights count to one part in 2^48 of their sum: whole numbers
/// below that are exact.
Split best_split(const SplitTask& task);

}  // namespace rankwright::split
