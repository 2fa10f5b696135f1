#include "rankwright/report/plan/plan_points.h"

#include <algorithm>
#include <utility>

#include "rankwright/report/plan/plan_sentences.h"

namespace rankwright::report {
namespace {

PlanPoint make_point(PlanPoint::Role role, const search::EvaluatedPlan& plan, std::string because) {
  return {.role = role,
          .config = plan.config,
          .time = plan.time(),
          .memory = plan.estimate.memory.total(),
          .fits = plan.estimate.fits(),
          .because = std::move(because)};
}

/// A list in which every plan appears once, in its first role.
class PointList {
 public:
  void add(PlanPoint one) {
    const auto same = [&](const PlanPoint& p) { return p.config.plan == one.config.plan; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
  }
  std::vector<PlanPoint> all{};
};

void add_neighbors(const planner::PlanAnswer& search, const search::EvaluatedPlan& plan,
                   PointList& points, std::vector<RefusedChange>& refused) {
  using Verdict = search::Neighbor::Verdict;
  for (const WhyRow& row : make_why_rows(search, plan)) {
    const search::Neighbor& n = search.neighbors[row.neighbour];
    if (n.verdict == Verdict::violation || n.verdict == Verdict::rule) {
      refused.push_back({row.change, row.plan, row.because});
      continue;
    }
    points.add({.role = PlanPoint::Role::neighbour,
                .change = row.change,
                .config = n.config,
                .time = n.time,
                .memory = n.memory.total(),
                .fits = n.verdict == Verdict::evaluated,
                .because = row.because});
  }
}

/// Drops points of the Pareto front that another point dominates. The front comes from closed
/// forms; simulated plans or neighbors may be both faster and smaller.
void drop_dominated(std::vector<PlanPoint>& points) {
  const auto dominates = [](const PlanPoint& a, const PlanPoint& b) {
    return a.fits && a.time <= b.time && a.memory <= b.memory &&
           (a.time < b.time || a.memory < b.memory);
  };
  const std::vector<PlanPoint> all = points;
  std::erase_if(points, [&](const PlanPoint& p) {
    return p.role == PlanPoint::Role::front &&
           std::any_of(all.begin(), all.end(), [&](const PlanPoint& q) { return dominates(q, p); });
  });
}

}  // namespace

std::string_view name(PlanPoint::Role role) {
  constexpr std::string_view kNames[] = {"this", "best", "tie", "safe", "front", "neighbour"};
  return kNames[std::size_t(role)];
}

PlanPoints collect_points(const planner::PlanReport& report) {
  using Role = PlanPoint::Role;
  if (!report.search) return {};
  const planner::PlanAnswer& search = *report.search;
  const search::Answer& found = search.answer;
  const search::EvaluatedPlan itself = report.evaluated();
  PointList list;
  std::vector<RefusedChange> refused;
  list.add(make_point(Role::itself, itself, "the plan that this is about"));
  if (found.best) list.add(make_point(Role::best, *found.best, "what the search would run"));
  if (found.fastest) list.add(make_point(Role::best, *found.fastest, "the fastest of all"));
  if (found.safe) list.add(make_point(Role::safe, *found.safe, "fits with margin"));
  for (const search::EvaluatedPlan& rival : found.rivals)
    list.add(make_point(Role::tie, rival, "within the model's error of the fastest"));
  add_neighbors(search, itself, list, refused);
  for (const search::EvaluatedPlan& plan : report.front)
    list.add(make_point(Role::front, plan, "nothing faster takes less memory"));
  drop_dominated(list.all);
  return {std::move(list.all), std::move(refused)};
}

}  // namespace rankwright::report
