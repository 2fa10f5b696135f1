#include "rankwright/planner/timeline/timeline_summary.h"

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::planner {
namespace {

/// Returns the maximum number of activations held. A forward pass begins to hold its stage's
/// activations; the backward pass or the weight gradient releases them.
i64 max_held(const std::vector<program::Event>& events) {
  i64 now = 0, max = 0;
  for (const program::Event& e : events) {
    const pipeline::ActionKind kind = e.action.kind;
    if (kind == pipeline::ActionKind::forward) ++now;
    if (kind == pipeline::ActionKind::backward || kind == pipeline::ActionKind::weight_grad) --now;
    max = std::max(max, now);
  }
  return max;
}

/// A link of the critical path with its time, including the cells that are joined with it.
struct Stretch {
  program::CriticalLink link;
  Seconds begin{}, end{};
};

/// Returns whether an event is the event of a link. An action may occur more than once on a rank,
/// so events that ended before the link are excluded.
bool is_event_of(const program::Event& event, const program::Event& link) {
  return event.action == link.action && (event.end > link.start || event.start >= link.start);
}

/// Adds the links of one rank, in order. Joined cells run as one: if one is on the path, all are.
void add_links(const SimulatedStep& p, const std::vector<program::Event>& events,
               const std::vector<Stretch*>& stretches, RankSummary& rank, TimelineSummary& all) {
  const auto joined = [&](std::size_t i) {
    return is_cell(events[i].action.kind) && events[i].action.joined != 0;
  };
  std::size_t at = 0;
  for (Stretch* const stretch : stretches) {
    while (at < events.size() && !is_event_of(events[at], stretch->link.event)) ++at;
    RW_CHECK(at < events.size());
    std::size_t first = at;
    while (first > 0 && joined(first - 1)) --first;
    while (joined(at)) ++at;
    stretch->begin = events[first].start;
    stretch->end = events[at].end;
    for (std::size_t i = first; i <= at; ++i) {
      const Seconds length = events[i].end - events[i].start;
      rank.critical += length;
      all.critical[std::size_t(classify_event(p.program, rank.pp_rank, events[i].action))] +=
          length;
    }
    ++at;
  }
}

/// Merges consecutive links on the same rank.
std::vector<CriticalPathRun> merge_runs(const std::vector<Stretch>& stretches) {
  std::vector<CriticalPathRun> all;
  for (const Stretch& stretch : stretches) {
    if (all.empty() || all.back().pp_rank != stretch.link.pp_rank)
      all.push_back({stretch.link.pp_rank, stretch.begin, stretch.end});
    all.back().end = stretch.end;
  }
  return all;
}

}  // namespace

const RankSummary& TimelineSummary::longest() const {
  return *std::max_element(
      ranks.begin(), ranks.end(),
      [](const RankSummary& a, const RankSummary& b) { return a.critical < b.critical; });
}

TimelineSummary summary(const SimulatedStep& p) {
  const i64 pp = p.program.pp();
  TimelineSummary all{.cells = cell_count(p.program), .end = p.timeline.end};
  std::vector<Stretch> path;
  for (const program::CriticalLink& link : find_critical_path(p.program, p.durations, p.timeline)) {
    path.push_back({link});
    all.travelled += link.travelled;
  }
  std::vector<std::vector<Stretch*>> by_rank(static_cast<std::size_t>(pp));
  for (Stretch& stretch : path) by_rank[std::size_t(stretch.link.pp_rank)].push_back(&stretch);
  std::vector<program::Phases> phases_of;
  for (i64 r = 0; r < pp; ++r) {
    const std::vector<program::Event> line = events(p, r);
    RankSummary rank{.pp_rank = r, .cells = p.timeline.busy[std::size_t(r)]};
    for (const program::Event& e : line)
      if (!is_cell(e.action.kind) && !is_beside(p.program, r, e.action))
        rank.steps += e.end - e.start;
    rank.idle = std::max(Seconds{}, all.end - rank.cells - rank.steps);
    rank.held = max_held(line);
    rank.phases = phases(line);
    add_links(p, line, by_rank[std::size_t(r)], rank, all);
    all.idle += all.share(rank.idle) / double(pp);
    phases_of.push_back(rank.phases);
    all.ranks.push_back(rank);
  }
  all.path = merge_runs(path);
  all.bands = bands(phases_of, all.end);
  return all;
}

std::vector<Band> bands(const std::vector<program::Phases>& ranks, Seconds end) {
  if (ranks.empty()) return {};
  program::Phases all{.first = end, .warm = {}, .drain = end, .last = {}};
  Seconds first_backward = end;
  for (const program::Phases& one : ranks) {
    all.warm = std::max(all.warm, one.warm);
    all.drain = std::min(all.drain, one.drain);
    all.last = std::max(all.last, one.last);
    first_backward = std::min(first_backward, one.warm);
  }
  if (all.drain <= all.warm) all.warm = all.drain = first_backward;
  std::vector<Band> found;
  for (const Band& band : {Band{"warm-up", {}, all.warm}, Band{"steady", all.warm, all.drain},
                           Band{"drain", all.drain, all.last}, Band{"end", all.last, end}})
    if (band.end > band.begin) found.push_back(band);
  return found;
}

}  // namespace rankwright::planner
