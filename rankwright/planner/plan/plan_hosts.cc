#include "rankwright/planner/plan/plan_hosts.h"

#include <algorithm>
#include <map>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/flops.h"

namespace rankwright::planner {
namespace {

constexpr i64 kMaxSearches = 64;

using ViolationCounts = std::vector<std::pair<plan::ConstraintViolation::Why, i64>>;

/// Returns the constraints that the nodes violate, most frequent first, if no node is possible;
/// else empty.
ViolationCounts find_violated(const search::Problem& problem) {
  std::map<plan::ConstraintViolation::Why, i64> broken;
  for (const search::Node& node : list_nodes(problem)) {
    const plan::ConstraintViolation violation = find_first_violation(config_of(problem, node));
    if (!violation) return {};
    ++broken[violation.why];
  }
  ViolationCounts sorted(broken.begin(), broken.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

/// Returns a lower bound on the step time on `devices`: the model's FLOPs, divided evenly, at the
/// rate that large matmuls reach.
Seconds min_step_time(const plan::TrainingConfig& config, i64 devices) {
  const double tokens = double(config.job.global_batch) * double(config.job.sequence);
  const Flops work =
      tokens * model::training_flops_per_token(config.model, config.job.sequence,
                                               model::FlopsConvention::megatron_causal);
  const cost::Rates rates = cost::compute_rates(config, select_calibration(config));
  return work / (double(devices) * std::max(rates.layers, rates.attention));
}

}  // namespace

HostUse choose_hosts(const search::Problem& problem, const ExcludedHosts& excluded,
                     const search::SearchOptions& options) {
  const i64 host = std::max<i64>(1, problem.config.cluster.host_devices);
  HostUse out{.count = excluded.count, .listed = excluded.hosts};
  out.left = problem.config.cluster.devices() / host - excluded.count;
  std::optional<search::EvaluatedPlan> best;
  for (i64 hosts = out.left; hosts >= 1; --hosts) {
    if (best && min_step_time(problem.config, hosts * host) > best->time()) break;
    search::Problem fewer = problem;
    fewer.config.world = hosts * host;
    ViolationCounts broken = find_violated(fewer);
    const bool possible = broken.empty() && !list_nodes(fewer).empty();
    if (hosts == out.left) out.broken = std::move(broken);
    if (!possible) continue;
    if (out.counts_tried == kMaxSearches) {
      out.cut_short = true;
      break;
    }
    ++out.counts_tried;
    const search::SearchResult found =
        search::search(fewer, select_calibration(fewer.config), options);
    if (found.space.best) {
      search::EvaluatedPlan one =
          evaluate_plan(fewer, found.space.best->plan, select_calibration(fewer.config));
      if (!best || one.time() < best->time()) best = std::move(one), out.used = hosts;
    }
    if (!found.complete) {
      out.cut_short = true;
      break;
    }
  }
  return out;
}

mesh::Placement place_around(const HostUse& out, const cluster::Cluster& cluster) {
  if (out.listed.empty()) return {};
  const i64 host = std::max<i64>(1, cluster.host_devices);
  mesh::Placement placement{.kind = mesh::Placement::Kind::listed};
  for (i64 at = 0; i64(placement.devices.size()) < out.used * host; ++at) {
    if (std::binary_search(out.listed.begin(), out.listed.end(), at)) continue;
    for (i64 slot = 0; slot < host; ++slot) placement.devices.push_back(at * host + slot);
  }
  return placement;
}

void apply_placement(PlanAnswer& view, const mesh::Placement& placement) {
  if (placement.kind == mesh::Placement::Kind::block || !view.answer.best) return;
  const auto reestimate = [&](search::EvaluatedPlan& one) {
    one.config.plan.placement = placement;
    one = evaluate_plan(view.problem, one.config.plan, select_calibration(view.problem.config));
  };
  search::Answer& answer = view.answer;
  for (std::optional<search::EvaluatedPlan>* one :
       {&answer.best, &answer.fastest, &answer.safe, &answer.usual})
    if (*one) reestimate(**one);
  for (search::EvaluatedPlan& rival : answer.rivals) reestimate(rival);
  for (search::Neighbor& n : view.neighbors) {
    n.config.plan.placement = placement;
    if (n.verdict != search::Neighbor::Verdict::evaluated) continue;
    const search::EvaluatedPlan price =
        evaluate_plan(view.problem, n.config.plan, select_calibration(view.problem.config));
    n.step = price.estimate.step;
    n.time = price.time();
  }
}

}  // namespace rankwright::planner
