#include "rankwright/planner/stages_view.h"

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/work.h"

namespace rankwright {
namespace {

/// Among torchtitan's two settings those with which the busiest pp rank does least; its defaults
/// where nothing is better.
void ask_torchtitan(const Setup& setup, StagesView& view) {
  for (const Stage& stage : view.best.stages)
    if (stage.mtp > 0) return;
  const i64 stages = i64(view.best.stages.size());
  Setup trial = setup;
  const auto ask = [&](i64 first, i64 last) {
    const std::optional<std::vector<i64>> layers =
        titan_layers(setup.model.layers(), stages, first, last);
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
  const i64 most = std::min<i64>(32, 2 * ceil_div(setup.model.layers(), stages) + 1);
  for (i64 first = 0; first <= most; ++first)
    for (i64 last = 0; last <= most; ++last) ask(first, last);
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

StagesView stages_view(const Setup& setup) {
  StagesView view{
      .now = setup.stages(), .work = work(setup), .best = best_split(split_task(setup))};
  view.imbalance = view.best_imbalance = imbalance(view.work);
  if (view.best.fault != Split::Fault::none) return view;
  Setup after = setup;
  after.plan.stages = view.best.stages;
  view.best_imbalance = imbalance(work(after));
  ask_torchtitan(setup, view);
  return view;
}

}  // namespace rankwright
