#include "rankwright/planner/plan/plan_hosts.h"

#include <algorithm>
#include <map>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/flops.h"

namespace rankwright::planner {
namespace {

constexpr i64 kMaxSearches = 64;
constexpr i64 kMaxOtherBatches = 8;    // searches with another global batch
constexpr i64 kRoundMicrobatches = 8;  // per replica; they suit interleaving and micro-batches of 2
constexpr double kMaxBatchChange = 0.1;  // of the job's batch; a larger change is another job

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

/// Returns the largest batches below the job's that divide over the replicas of a node whose only
/// violation is the job's batch: with any number of microbatches per replica, and with a multiple
/// of kRoundMicrobatches. Empty if none is near.
std::vector<OtherBatch> list_near_batches(const search::Problem& problem) {
  std::vector<OtherBatch> all;
  const i64 batch = problem.config.job.global_batch;
  for (const i64 round : {kRoundMicrobatches, i64{1}}) {
    std::optional<OtherBatch> best;
    for_each_node(problem, [&](const search::Node& node) {
      plan::TrainingConfig config = config_of(problem, node);
      if (find_first_violation(config).why != plan::ConstraintViolation::Why::batch) return true;
      const i64 unit = round * config.plan.micro_batch * config.plan.dp;
      config.job.global_batch = batch / unit * unit;
      if (double(config.job.global_batch) < (1 - kMaxBatchChange) * double(batch)) return true;
      if (best && config.job.global_batch <= best->global_batch) return true;
      if (!find_first_violation(config))
        best = {.dp = config.plan.dp, .global_batch = config.job.global_batch};
      return true;
    });
    if (best && (all.empty() || all.front().global_batch != best->global_batch))
      all.push_back(*best);
  }
  return all;
}

/// Returns the near batch with the highest throughput on the largest host count above `out.used` on
/// which one has a higher throughput than `best`, which may be empty.
std::optional<OtherBatch> find_other_batch(const search::Problem& problem, const HostUse& out,
                                           const std::optional<search::EvaluatedPlan>& best,
                                           const search::SearchOptions& options) {
  const i64 host = std::max<i64>(1, problem.config.cluster.host_devices);
  // Sequences per second.
  const double now = best ? double(problem.config.job.global_batch) / best->time().value : 0;
  i64 searches = 0;
  for (i64 hosts = out.left; hosts > out.used && searches < kMaxOtherBatches; --hosts) {
    search::Problem other = problem;
    other.config.world = hosts * host;
    std::optional<OtherBatch> fastest;
    double max = now;
    for (OtherBatch near : list_near_batches(other)) {
      other.config.job.global_batch = near.global_batch;
      ++searches;
      const search::SearchResult found =
          search::search(other, select_calibration(other.config), options);
      if (!found.complete) return std::nullopt;
      if (!found.space.best) continue;
      near.hosts = hosts;
      near.step =
          evaluate_plan(other, found.space.best->plan, select_calibration(other.config)).time();
      const double rate = double(near.global_batch) / near.step.value;
      if (rate > max) max = rate, fastest = near;
    }
    if (fastest) return fastest;
  }
  return std::nullopt;
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
    const bool factors = !list_nodes(fewer).empty();
    const bool possible = broken.empty() && factors;
    if (hosts == out.left) out.broken = std::move(broken), out.all_factor = factors;
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
  if (!out.cut_short) out.other_batch = find_other_batch(problem, out, best, options);
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
