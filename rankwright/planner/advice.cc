#include "rankwright/planner/advice.h"

#include <algorithm>
#include <utility>

#include "rankwright/planner/plan/plan_defaults.h"

namespace rankwright::planner {
namespace {

/// Lists the keys of the layout, of the world size and of the cluster in which two configs differ.
std::vector<KeyDifference> list_changes(const plan::TrainingConfig& from,
                                        const plan::TrainingConfig& to) {
  std::vector<KeyDifference> all = find_key_differences(from, to);
  std::erase_if(all, [](const KeyDifference& one) {
    return !one.key.starts_with("parallelism.") && one.key != "world_size" && one.key != "cluster";
  });
  return all;
}

std::vector<const rules::TargetRow*> find_frameworks(const plan::TrainingConfig& config,
                                                     rules::Target target) {
  std::vector<const rules::TargetRow*> all;
  for (const TargetVerdict& verdict : check_targets(config)) {
    if (verdict.target->launcher || !verdict.broken.empty()) continue;
    if (verdict.target->target == target) return {verdict.target};
    all.push_back(verdict.target);
  }
  return all;
}

/// Returns the plan of the smallest GPU count that fits, on a cluster of that size; nothing if no
/// count is known. The counts were searched on a cluster with room for all of them.
std::optional<search::EvaluatedPlan> find_growth(const search::EvaluatedPlan& own,
                                                 const PlanAnswer& search) {
  if (!search.fewest || !search.fewest->plan) return std::nullopt;
  search::EvaluatedPlan fits = *search.fewest->plan;
  if (const std::optional<cluster::Cluster> enough =
          grow_cluster(own.config.cluster, fits.config.world))
    fits.config.cluster = *enough;
  return fits;
}

Advice::Kind choose_kind(const search::EvaluatedPlan& own, const PlanAnswer& search) {
  const Rivals rivals = find_rivals(own, search.answer);
  if (rivals.best == nullptr) return Advice::Kind::grow;
  if (!own.estimate.fits()) return Advice::Kind::change;
  if (rivals.chosen || rivals.slowdown <= 0) return Advice::Kind::keep;
  const double gain = own.time() / rivals.best->time() - 1;
  return gain <= search.answer.band ? Advice::Kind::benchmark : Advice::Kind::change;
}

}  // namespace

std::string_view name(Advice::Kind kind) {
  constexpr std::string_view kNames[] = {"change", "benchmark", "keep", "grow", "inform"};
  return kNames[std::size_t(kind)];
}

Rivals find_rivals(const search::EvaluatedPlan& own, const search::Answer& found) {
  Rivals rivals{.best = found.best ? &*found.best : nullptr};
  rivals.fastest = found.fastest ? &*found.fastest : rivals.best;
  if (rivals.fastest != nullptr) rivals.slowdown = own.time() / rivals.fastest->time() - 1;
  rivals.chosen = rivals.best != nullptr && rivals.best->config.plan == own.config.plan;
  return rivals;
}

Advice advise(const search::EvaluatedPlan& own, const PlanAnswer& search,
              const TrainingRequest& training) {
  Advice advice{.kind = choose_kind(own, search)};
  if (advice.kind == Advice::Kind::grow)
    advice.plan = find_growth(own, search);
  else if (advice.kind != Advice::Kind::keep)
    advice.plan = search.answer.best;
  const rules::Target target = search.problem.limits.target;
  if (advice.plan) {
    advice.changes = list_changes(own.config, advice.plan->config);
    advice.frameworks = find_frameworks(advice.plan->config, target);
    advice.run = estimate_training(advice.plan->config, advice.plan->estimate, training);
  } else if (advice.kind == Advice::Kind::keep) {
    advice.frameworks = find_frameworks(own.config, target);
  }
  return advice;
}

}  // namespace rankwright::planner
