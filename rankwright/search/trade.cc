#include "rankwright/search/trade.h"

#include <algorithm>

#include "rankwright/cost/memory/states.h"
#include "rankwright/model/parameters.h"
#include "rankwright/plan/frozen.h"

namespace rankwright::search {
namespace {

/// Fractions of the memory that a plan may take, and divisors of the number of GPUs.
constexpr double kShares[] = {0.875, 0.75, 0.5};
constexpr i64 kParts[] = {2, 4};

/// Returns whether `a` has no more GPUs, time and memory than `b`.
bool covers(const TradePoint& a, const TradePoint& b) {
  if (!a.plan || !b.plan) return false;
  return a.gpus <= b.gpus && a.plan->time() <= b.plan->time() &&
         a.plan->estimate.memory.total() <= b.plan->estimate.memory.total();
}

/// Returns the first point and those that no other covers. The earlier of two equal points stays.
std::vector<TradePoint> keep_uncovered(std::vector<TradePoint> points) {
  std::vector<TradePoint> kept;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto better = [&](const TradePoint& other) {
      const bool before = &other < &points[k];
      return &other != &points[k] && covers(other, points[k]) &&
             (before || !covers(points[k], other));
    };
    if (k == 0 || std::none_of(points.begin(), points.end(), better)) kept.push_back(points[k]);
  }
  return kept;
}

/// Returns whether the model states exceed the memory of that many GPUs.
bool has_too_few(const Problem& problem, i64 gpus) {
  if (has_frozen_weights(problem.config) || problem.config.plan.offload.any()) return false;
  const cost::StateBytes each = cost::count_state_bytes(problem.config);
  const Bytes states = bytes(count_parameters(problem.config.model).total(),
                             each.weights + each.gradients + each.optimizer);
  return states > double(gpus) * problem.limit();
}

}  // namespace

std::vector<TradePoint> find_trade_points(const Problem& problem, const Answer& answer,
                                          const cluster::Calibration& calibration,
                                          const SearchOptions& options) {
  const EvaluatedPlan& best = *answer.best;
  std::vector<TradePoint> points{{problem.config.world, problem.limit(), best}};
  for (const double share : kShares) {
    Problem tighter = problem;
    tighter.max_memory = share * problem.capacity;
    if (tighter.limit() >= problem.limit()) continue;
    if (best.estimate.memory.total() <= *tighter.max_memory) continue;
    const Candidate* known = select_from_front(answer.front, *tighter.max_memory);
    std::optional<EvaluatedPlan> plan = known ? evaluate_plan(problem, known->plan, calibration)
                                              : find_fastest_plan(tighter, calibration, options);
    const bool fits = plan.has_value();
    points.push_back({problem.config.world, *tighter.max_memory, std::move(plan)});
    if (!fits) break;
  }
  for (const i64 part : kParts) {
    if (problem.config.world % part != 0) break;
    Problem fewer = problem;
    fewer.config.world /= part;
    std::optional<EvaluatedPlan> plan;
    if (!has_too_few(fewer, fewer.config.world))
      plan = find_fastest_plan(fewer, calibration, options);
    const bool fits = plan.has_value();
    points.push_back({fewer.config.world, problem.limit(), std::move(plan)});
    if (!fits) break;
  }
  return keep_uncovered(std::move(points));
}

std::vector<CountRow> search_counts(const Problem& problem, const std::vector<i64>& counts,
                                    const cluster::Calibration& calibration,
                                    const SearchOptions& options) {
  std::vector<CountRow> rows;
  for (const i64 count : counts) {
    Problem other = problem;
    other.config.world = count;
    Answer found = find_possible_answer(other, calibration, options);
    rows.push_back(
        {.gpus = count, .plan = std::move(found.best), .leanest = std::move(found.leanest)});
    if (!found.complete) break;
  }
  return rows;
}

std::vector<i64> count_ladder(i64 host, i64 min, i64 max) {
  std::vector<i64> counts;
  const auto add = [&](i64 count) {
    if (min <= count && count <= max) counts.push_back(count);
  };
  for (i64 part = 1; part < host; ++part)
    if (host % part == 0) add(part);
  for (i64 hosts = 1; hosts <= max / host; hosts *= 2) {
    add(hosts * host);
    if (hosts > 1) add(hosts / 2 * 3 * host);
  }
  add(min);
  add(max);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<i64> counts_between(i64 host, i64 less, i64 more) {
  constexpr i64 kEighths = 8;
  std::vector<i64> counts;
  const i64 first = less / host + 1, last = (more - 1) / host;  // hosts
  const i64 step = std::max<i64>(1, (more / host - less / host) / kEighths);
  for (i64 hosts = std::max(first, less / host + step); hosts <= last; hosts += step)
    counts.push_back(hosts * host);
  return counts;
}

std::optional<CountRow> find_fewest_gpus(const Problem& problem,
                                         const cluster::Calibration& calibration,
                                         const SearchOptions& options) {
  const i64 host = std::max<i64>(1, problem.config.cluster.host_devices);
  const i64 max = problem.config.cluster.devices();
  const auto next = [&](i64 count) {
    if (count >= host) return count + host;
    do ++count;
    while (host % count != 0);
    return count;
  };
  for (i64 count = 1; count <= max; count = next(count)) {
    if (has_too_few(problem, count)) continue;
    Problem other = problem;
    other.config.world = count;
    SearchOptions inside = options;
    inside.windows = {};
    if (!search(other, calibration, inside).space.best) {
      if (options.go_on && !options.go_on({})) return std::nullopt;
      continue;
    }
    return CountRow{.gpus = count, .plan = find_answer(other, calibration, options).best};
  }
  return std::nullopt;
}

}  // namespace rankwright::search
