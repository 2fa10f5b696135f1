// Stage splits balanced by time: layers, embedding and head are weighted by their times on the
// node's ranks. A search needs the same splits many times, so they are cached.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rankwright/cost/layer_costs.h"
#include "rankwright/plan/plan.h"

namespace rankwright::search {

/// The weights of the parts of a model, in 1/16 of its heaviest layer.
struct SplitWeights {
  i64 embedding = 0, head = 0;
  std::vector<i64> layers{};  // by run
};
SplitWeights weigh_parts(const model::Model& model, const cost::LayerCosts& prices);

/// Splits by their input. Since weights are rounded, nodes with similar times share a split; the
/// result does not depend on which node asks first. Thread-safe.
class StageSplitCache {
 public:
  /// Returns the balanced stages for the config's pp, chunks and schedule. Empty if there are fewer
  /// layers than stages.
  std::shared_ptr<const plan::Stages> stages(const plan::TrainingConfig& config,
                                             const SplitWeights& weights);

 private:
  using Key = std::vector<i64>;
  std::mutex mutex_{};
  std::map<Key, std::shared_ptr<const plan::Stages>> known_{};
  std::size_t kept_ = 0;  // stages in known_
};

}  // namespace rankwright::search
