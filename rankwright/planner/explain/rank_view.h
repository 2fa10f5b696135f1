// Describes one rank: coordinates, device, stages and layers, groups and peers, communication and
// memory. The cost does not depend on the world size, except for the lists of members.
// report/explain/rank_text.h presents it.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/plan/plan.h"

namespace rankwright::planner {

/// Everything about one rank.
struct RankView {
  i64 rank = 0;
  i64 tp = 0, cp = 0, dp = 0, pp = 0;  // coordinates
  i64 ep = 0, etp = 0, edp = 0;        // coordinates on the expert mesh
  i64 device = 0;
  i64 host = 0, slot = 0;
  std::vector<i64> domains{};  // domain of each level that contains it, innermost first

  struct Chunk {
    i64 stage = 0;
    i64 first_layer = 0, layers = 0, mtp = 0;
    bool embedding = false, loss = false;
    pipeline::MicrobatchRun microbatches{};  // that this rank runs through the stage
    i64 receives_from = -1,
        sends_to = -1;  // ranks in the forward direction; -1 at the model's ends
  };
  std::vector<Chunk> chunks{};

  struct GroupView {
    std::string name;
    std::string levels;  // "inside nvlink"
    i64 size = 1;
    std::vector<i64> members{};  // if there are many, the first few and the last
    bool shortened = false;
  };
  std::vector<GroupView> groups{};  // groups of more than one rank
  i64 previous = -1, next = -1;     // neighbors on the pp axis; -1 at its ends
  std::vector<cost::TrafficCost> traffic{};
  cost::MemoryEstimate memory{};
  cost::ErrorBand memory_band{};
};

/// Describes a rank. Requires: 0 <= rank < world, and a config without constraint violations.
RankView make_rank_view(const plan::TrainingConfig& config, i64 rank);

}  // namespace rankwright::planner
