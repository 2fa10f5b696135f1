#include "rankwright/planner/explain/stages_view.h"

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/work.h"

namespace rankwright {
namespace {

/// Among torchtitan's two settings those with which the busiest pp rank does least; its defaults
/// where nothing is better.
void ask_torchtitan(const TrainingConfig& config, StagesView& view) {
  for (const Stage& stage : view.best.stages)
    if (stage.mtp > 0) return;
  const i64 stages = i64(view.best.stages.size());
  TrainingConfig trial = config;
  const auto ask = [&](i64 first, i64 last) {
    const std::optional<std::vector<i64>> layers =
        titan_layers(config.model.layers(), stages, first, last);
    if (!layers) return;
    trial.plan.stages = listed_stages(*layers, 0);
    const double uneven = imbalance(work(trial));
    if (view.titan && uneven >= view.titan_imbalance) return;
    if (const std::optional<TitanSplit> split = titan_split(trial.plan.stages)) {
      view.titan = split;
      view.titan_imbalance = uneven;
    }
  };
  const TitanSplit defaults;
  ask(defaults.first_less, defaults.last_less);
  const i64 max = std::min<i64>(32, 2 * ceil_div(config.model.layers(), stages) + 1);
  for (i64 first = 0; first <= max; ++first)
    for (i64 last = 0; last <= max; ++last) ask(first, last);
}

}  // namespace

std::string besides(const RankContents& on_rank) {
  std::string text;
  const auto add = [&](bool has, const std::string& what) {
    if (has) text += (text.empty() ? "" : ", ") + what;
  };
  add(on_rank.embedding, "embedding");
  add(on_rank.mtp > 0, plural(on_rank.mtp, "MTP module", "MTP modules"));
  add(on_rank.loss, "head and loss");
  return text;
}

StagesView stages_view(const TrainingConfig& config) {
  StagesView view{
      .now = config.stages(), .work = work(config), .best = best_split(split_task(config))};
  view.imbalance = view.best_imbalance = imbalance(view.work);
  if (view.best.fault != Split::Fault::none) return view;
  TrainingConfig after = config;
  after.plan.stages = view.best.stages;
  view.best_imbalance = imbalance(work(after));
  ask_torchtitan(config, view);
  return view;
}

}  // namespace rankwright
