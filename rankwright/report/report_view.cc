#include "rankwright/report/report_view.h"

#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory.h"
#include "rankwright/program/expand.h"
#include "rankwright/program/schedule.h"
#include "rankwright/report/plan_words.h"

namespace rankwright {
namespace {

constexpr std::size_t kMostOfFront = 24;

/// A play of more than this takes longer than anybody would wait for a picture.
bool playable(const Setup& setup) {
  const PipelineShape shape = pipeline_shape(setup);
  const std::optional<i64> cells = cell_count(shape);
  return shape.stages() <= kMostPlayedStages && cells && *cells <= kMostPlayedCells &&
         expansion_bytes(setup) <= kMaxExpansion;
}

PlanPoint point(PlanPoint::Role role, const Priced& plan, std::string because) {
  return {.role = role,
          .setup = plan.setup,
          .time = plan.time(),
          .memory = plan.estimate.memory.total(),
          .fits = plan.estimate.fits(),
          .because = std::move(because)};
}

/// A plan is drawn once, as the first thing that it is.
class Points {
 public:
  void add(PlanPoint one) {
    const auto same = [&](const PlanPoint& p) { return p.setup.plan == one.setup.plan; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
  }
  std::vector<PlanPoint> all{};
};

void add_neighbours(const PlanView& search, const Priced& plan, Points& points,
                    std::vector<RefusedChange>& refused) {
  using Verdict = Neighbour::Verdict;
  for (const WhyRow& row : why_rows(search, plan)) {
    const Neighbour& n = search.neighbours[row.neighbour];
    if (n.verdict == Verdict::misfit || n.verdict == Verdict::rule) {
      refused.push_back({row.change, row.plan, row.because});
      continue;
    }
    points.add({.role = PlanPoint::Role::neighbour,
                .change = row.change,
                .setup = n.setup,
                .time = n.time,
                .memory = n.memory.total(),
                .fits = n.verdict == Verdict::priced,
                .because = row.because});
  }
}

/// The front is that of closed forms: of what was played, and of the plan and its neighbours, some
/// may be faster and smaller than a point of it.
void drop_beaten(std::vector<PlanPoint>& points) {
  const auto beats = [](const PlanPoint& a, const PlanPoint& b) {
    return a.fits && a.time <= b.time && a.memory <= b.memory &&
           (a.time < b.time || a.memory < b.memory);
  };
  const std::vector<PlanPoint> all = points;
  std::erase_if(points, [&](const PlanPoint& p) {
    return p.role == PlanPoint::Role::front &&
           std::any_of(all.begin(), all.end(), [&](const PlanPoint& q) { return beats(q, p); });
  });
}

/// What might be chosen instead, nearest to a choice first.
void add_points(PlanReport& report) {
  using Role = PlanPoint::Role;
  const PlanView& search = *report.search;
  const Answer& found = search.answer;
  const Priced itself = report.priced();
  Points points;
  points.add(point(Role::itself, itself, "the plan that this is about"));
  if (found.best) points.add(point(Role::best, *found.best, "what the search would run"));
  if (found.fastest) points.add(point(Role::best, *found.fastest, "the fastest of all"));
  if (found.safe) points.add(point(Role::safe, *found.safe, "fits whatever the ledger's error"));
  for (const Priced& rival : found.rivals)
    points.add(point(Role::tie, rival, "within the model's error of the fastest"));
  add_neighbours(search, itself, points, report.refused);
  const std::size_t front = std::min(kMostOfFront, found.front.size());
  for (std::size_t k = 0; k < front; ++k)
    points.add(point(Role::front,
                     priced(search.problem, found.front[k].plan, calibration(report.setup)),
                     "nothing faster takes less memory"));
  drop_beaten(points.all);
  report.points = std::move(points.all);
}

}  // namespace

std::string_view name(PlanPoint::Role role) {
  constexpr std::string_view kNames[] = {"this", "best", "tie", "safe", "front", "neighbour"};
  return kNames[std::size_t(role)];
}

PlanReport plan_report(std::string name, const Setup& setup, Diagnostics findings) {
  PlanReport report{.name = std::move(name),
                    .setup = setup,
                    .sheet = worksheet(setup),
                    .findings = std::move(findings),
                    .ledgers = ledgers(setup, calibration(setup)),
                    .ranks = rank_map(setup)};
  if (playable(setup)) {
    Played step = played(setup);
    TimelineSummary sum = summary(step);
    report.step = PlayedStep{std::move(step), std::move(sum)};
  }
  return report;
}

void add_search(PlanReport& report, PlanView search) {
  report.search = std::move(search);
  add_points(report);
}

}  // namespace rankwright
