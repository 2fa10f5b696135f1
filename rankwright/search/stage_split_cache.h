// Stage splits balanced by time: layers, embedding and head are weighted by their times on the
// node's ranks. A search needs the same splits many times, so they are cached.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "rankwright/cost/layer_costs.h"
#include "rankwright/plan/plan.h"

namespace rankwright::search {

/// Splits by their input. Weights are rounded to 1/16 of the heaviest layer, so that nodes with
/// similar times share a split; the result does not depend on which node asks first. Thread-safe.
class StageSplitCache {
 public:
  /// Returns the balanced stages for the config's pp, chunks and schedule, with layers weighted by
  /// `prices`. Empty if there are fewer layers than stages.
  plan::Stages stages(const plan::TrainingConfig& config, const cost::LayerCosts& prices);

 private:
  using Key = std::vector<i64>;
  std::mutex mutex_{};
  std::map<Key, plan::Stages> known_{};
  std::size_t kept_ = 0;  // stages in known_
};

}  // namespace rankwright::search
