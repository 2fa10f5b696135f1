// Everything about one rank: coordinates, device, stage and layers, groups and peers, and what
// fills its memory. Costs the same for rank 3 of 8 and for one of a million, but for the lists of
// members. How it looks is report/explain/rank_text.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/plan/plan.h"

namespace rankwright::planner {

struct RankView {
  i64 rank = 0;
  i64 tp = 0, cp = 0, dp = 0, pp = 0;  // coordinates
  i64 ep = 0, etp = 0, edp = 0;        // on the expert mesh
  i64 device = 0;
  i64 host = 0, slot = 0;
  std::vector<i64> domains{};  // which domain of each level it is in, innermost first

  struct Chunk {
    i64 stage = 0;
    i64 first_layer = 0, layers = 0, mtp = 0;
    bool embedding = false, loss = false;
    pipeline::MicrobatchRun microbatches{};  // that pass it on this rank
    i64 receives_from = -1, sends_to = -1;   // ranks, going forward; -1 at the model's ends
  };
  std::vector<Chunk> chunks{};

  struct GroupView {
    std::string name;
    std::string levels;  // "inside nvlink"
    i64 size = 1;
    std::vector<i64> members{};  // the first few and the last where there are many
    bool shortened = false;
  };
  std::vector<GroupView> groups{};  // those of more than one rank
  i64 previous = -1, next = -1;     // neighbours on the pp axis; -1 at its ends
  cost::MemoryEstimate memory{};
  cost::ErrorBand memory_band{};
};

/// 0 <= rank < world; the config has no violation.
RankView rank_view(const plan::TrainingConfig& config, i64 rank);

}  // namespace rankwright::planner
