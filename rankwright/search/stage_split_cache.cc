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

template <class Time>
Seconds total(const Time& time) {
  return time.forward.total() + time.input.total() + time.weight.total();
}

}  // namespace

plan::Stages StageSplitCache::stages(const plan::TrainingConfig& config,
                                     const cost::LayerCosts& prices) {
  const plan::Plan& plan = config.plan;
  const i64 mtp = config.model.mtp_layers;
  std::vector<Seconds> kinds;
  Seconds heaviest{};
  for (const cost::LayerKindCost& kind : prices.kinds) {
    kinds.push_back(total(kind.time) + kind.time.again.total());
    heaviest = std::max(heaviest, kinds.back());
  }
  const auto units = [&](Seconds time) { return i64(std::llround(kUnits * (time / heaviest))); };
  const i64 embedding = units(total(prices.embedding));
  const i64 head = units(double(1 + mtp) * total(prices.head));
  Key key{plan.pp, plan.virtual_stages, i64(row(plan.schedule).stage_order), embedding, head};
  for (const Seconds& kind : kinds) key.push_back(units(kind));
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  split::SplitTask task = cost::make_split_task(config);
  task.steps = kSteps;
  task.mtp_apart = true;
  task.embedding.weight = double(embedding);
  task.head.weight = double(head);
  task.mtp.weight = double(units(kinds.back()));
  for (std::size_t k = 0; k < kinds.size(); ++k)
    task.layers[k].each.weight = double(units(kinds[k]));
  plan::Stages stages = find_best_split(task).stages;
  const std::lock_guard lock(mutex_);
  if (kept_ + stages.size() <= kMaxKept && known_.emplace(std::move(key), stages).second)
    kept_ += stages.size();
  return stages;
}

}  // namespace rankwright::search
