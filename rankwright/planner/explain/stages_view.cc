#include "rankwright/planner/explain/stages_view.h"

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/work.h"

namespace rankwright::planner {
namespace {

/// Finds the values of torchtitan's two settings that minimize the work of the busiest pp rank; its
/// defaults if nothing is better.
void find_titan_split(const plan::TrainingConfig& config, StagesView& view) {
  for (const plan::Stage& stage : view.best.stages)
    if (stage.mtp > 0) return;
  const i64 stages = i64(view.best.stages.size());
  plan::TrainingConfig trial = config;
  const auto try_settings = [&](i64 first, i64 last) {
    const std::optional<std::vector<i64>> layers =
        split::compute_titan_layers(config.model.layers(), stages, first, last);
    if (!layers) return;
    trial.plan.stages = plan::make_listed_stages(*layers, 0);
    const double uneven = cost::imbalance(cost::work(trial));
    if (view.titan && uneven >= view.titan_imbalance) return;
    if (const std::optional<split::TitanSplit> split = split::find_titan_split(trial.plan.stages)) {
      view.titan = split;
      view.titan_imbalance = uneven;
    }
  };
  const split::TitanSplit defaults;
  try_settings(defaults.first_less, defaults.last_less);
  const i64 max = std::min<i64>(32, 2 * ceil_div(config.model.layers(), stages) + 1);
  for (i64 first = 0; first <= max; ++first)
    for (i64 last = 0; last <= max; ++last) try_settings(first, last);
}

}  // namespace

std::string describe_edges(const plan::RankContents& on_rank) {
  std::string text;
  const auto add = [&](bool has, const std::string& what) {
    if (has) text += (text.empty() ? "" : ", ") + what;
  };
  add(on_rank.embedding, "embedding");
  add(on_rank.mtp > 0, plural(on_rank.mtp, "MTP module", "MTP modules"));
  add(on_rank.loss, "head and loss");
  return text;
}

StagesView make_stages_view(const plan::TrainingConfig& config) {
  StagesView view{.now = config.stages(),
                  .work = cost::work(config),
                  .best = find_best_split(cost::make_split_task(config))};
  view.imbalance = view.best_imbalance = cost::imbalance(view.work);
  if (view.best.fault != split::Split::Fault::none) return view;
  plan::TrainingConfig after = config;
  after.plan.stages = view.best.stages;
  view.best_imbalance = cost::imbalance(cost::work(after));
  find_titan_split(config, view);
  return view;
}

}  // namespace rankwright::planner
