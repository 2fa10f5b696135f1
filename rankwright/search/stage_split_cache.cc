#include "rankwright/search/stage_split_cache.h"

#include <algorithm>
#include <cmath>

#include "rankwright/cost/work.h"

namespace rankwright::search {
namespace {

constexpr double kUnits = 16;    // weight of the heaviest layer
constexpr i64 kSteps = 200'000;  // per split: at most a millisecond
// Maximum number of cached stages, about 64 MB. Splits beyond it are computed again.
constexpr std::size_t kMaxKept = 2'000'000;

// Maximum number of runs of layers that are weighed one by one. Models that alternate between two
// kinds of attention have dozens, and any stage has about as many of each.
constexpr std::size_t kMaxRuns = 8;

/// Replaces all weights by that of the mean layer.
void average(std::vector<i64>& weights, const std::vector<cost::LayerKindCost>& kinds) {
  double sum = 0, layers = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double count = double(kinds[k].end - kinds[k].first);
    sum += count * double(weights[k]);
    layers += count;
  }
  std::fill(weights.begin(), weights.end(), i64(std::llround(sum / layers)));
}

/// Sets the weights of the runs, and joins neighbors of equal weight.
void join_equal(std::vector<split::ItemRun>& runs, const std::vector<i64>& weights) {
  std::vector<split::ItemRun> joined;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    runs[k].each.weight = double(weights[k]);
    if (!joined.empty() && joined.back().each.weight == runs[k].each.weight)
      joined.back().count += runs[k].count;
    else
      joined.push_back(runs[k]);
  }
  runs = std::move(joined);
}

template <class Time>
Seconds total(const Time& time) {
  return time.forward.total() + time.input.total() + time.weight.total();
}

}  // namespace

SplitWeights weigh_parts(const model::Model& model, const cost::LayerCosts& prices) {
  std::vector<Seconds> kinds;
  Seconds heaviest{};
  for (const cost::LayerKindCost& kind : prices.kinds) {
    kinds.push_back(total(kind.time) + kind.time.again.total());
    heaviest = std::max(heaviest, kinds.back());
  }
  const auto units = [&](Seconds time) { return i64(std::llround(kUnits * (time / heaviest))); };
  Seconds encoder{};
  for (const cost::EncoderCost& kind : prices.encoder)
    encoder += double(kind.count) * (total(kind.time) + kind.time.again.total());
  SplitWeights weights{.embedding = units(total(prices.embedding) + encoder),
                       .head = units(double(1 + model.mtp_layers) * total(prices.head))};
  for (const Seconds& kind : kinds) weights.layers.push_back(units(kind));
  if (weights.layers.size() > kMaxRuns) average(weights.layers, prices.kinds);
  return weights;
}

std::shared_ptr<const plan::Stages> StageSplitCache::stages(const plan::TrainingConfig& config,
                                                            const SplitWeights& weights) {
  const plan::Plan& plan = config.plan;
  Key key;
  key.reserve(5 + weights.layers.size());
  key = {plan.pp, plan.virtual_stages, i64(row(plan.schedule).stage_order), weights.embedding,
         weights.head};
  key.insert(key.end(), weights.layers.begin(), weights.layers.end());
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  split::SplitTask task = cost::make_split_task(config);
  task.steps = kSteps;
  task.mtp_apart = true;
  task.embedding.weight = double(weights.embedding);
  task.head.weight = double(weights.head);
  task.mtp.weight = double(weights.layers.back());
  join_equal(task.layers, weights.layers);
  auto stages = std::make_shared<const plan::Stages>(find_best_split(task).stages);
  const std::lock_guard lock(mutex_);
  if (kept_ + stages->size() <= kMaxKept && known_.emplace(std::move(key), stages).second)
    kept_ += stages->size();
  return stages;
}

}  // namespace rankwright::search
