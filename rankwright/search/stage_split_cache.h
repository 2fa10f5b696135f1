// The stage split that evens out time: layers, embedding and head weighed by what they take on the
// node's ranks. A search asks for the same splits again and again, so they are kept.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "rankwright/cost/layer_costs.h"
#include "rankwright/plan/plan.h"

namespace rankwright::search {

/// Splits by what decides them. Weights count to a 16th of the heaviest layer, so that nodes which
/// differ by less share a split; the same question has the same answer, whoever asks first.
class StageSplitCache {
 public:
  /// For the config's pp, chunks and schedule, the layers weighed by `prices`. Empty where there
  /// are fewer layers than stages.
  plan::Stages stages(const plan::TrainingConfig& config, const cost::LayerCosts& prices);

 private:
  using Key = std::vector<i64>;
  std::mutex mutex_{};
  std::map<Key, plan::Stages> known_{};
  std::size_t kept_ = 0;  // stages in known_
};

}  // namespace rankwright::search
