#include "rankwright/report/timeline_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"

namespace rankwright {
namespace {

/// A forward begins to hold its stage's activations, the backward or the weight gradient lets go.
i64 most_held(const std::vector<Event>& events) {
  i64 now = 0, most = 0;
  for (const Event& e : events) {
    const ActionKind kind = e.action.kind;
    if (kind == ActionKind::forward) ++now;
    if (kind == ActionKind::backward || kind == ActionKind::weight_grad) --now;
    most = std::max(most, now);
  }
  return most;
}

/// A link of the critical path and the time that it takes there, those it is joined with included.
struct Stretch {
  CriticalLink link;
  Seconds begin{}, end{};
};

/// Whether an event is the one of a link: a step may stand in a role more than once, so not one
/// that was over before.
bool is(const Event& event, const Event& link) {
  return event.action == link.action && (event.end > link.start || event.start >= link.start);
}

/// Adds the links of one rank, in order. Cells that are joined run as one: where one is on the
/// path, all are.
void add_links(const Played& p, const std::vector<Event>& events,
               const std::vector<Stretch*>& stretches, RankSummary& rank, TimelineSummary& all) {
  const auto joined = [&](std::size_t i) {
    return is_cell(events[i].action.kind) && events[i].action.joined != 0;
  };
  std::size_t at = 0;
  for (Stretch* const stretch : stretches) {
    while (at < events.size() && !is(events[at], stretch->link.event)) ++at;
    RW_CHECK(at < events.size());
    std::size_t first = at;
    while (first > 0 && joined(first - 1)) --first;
    while (joined(at)) ++at;
    stretch->begin = events[first].start;
    stretch->end = events[at].end;
    for (std::size_t i = first; i <= at; ++i) {
      const Seconds length = events[i].end - events[i].start;
      rank.critical += length;
      all.critical[std::size_t(ink_of(p.program, rank.pp_rank, events[i].action))] += length;
    }
    ++at;
  }
}

/// Consecutive links of one rank together.
std::vector<PathRun> runs(const std::vector<Stretch>& stretches) {
  std::vector<PathRun> all;
  for (const Stretch& stretch : stretches) {
    if (all.empty() || all.back().pp_rank != stretch.link.pp_rank)
      all.push_back({stretch.link.pp_rank, stretch.begin, stretch.end});
    all.back().end = stretch.end;
  }
  return all;
}

constexpr double kWorthAWord = 0.0005;  // of the step

/// The ranks with most of it, then what it consists of.
std::string path_in_words(const TimelineSummary& s) {
  constexpr std::size_t kMostRanks = 4;
  constexpr double kSmall = 0.05;  // not worth a name of its own
  std::vector<const RankSummary*> ranks;
  for (const RankSummary& rank : s.ranks)
    if (rank.critical.value > 0) ranks.push_back(&rank);
  std::stable_sort(ranks.begin(), ranks.end(), [](const RankSummary* a, const RankSummary* b) {
    return a->critical > b->critical;
  });
  if (ranks.empty()) return "nothing takes time";
  std::string text;
  Seconds rest{};
  i64 others = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double share = s.share(ranks[i]->critical);
    if (i > 0 && (i >= kMostRanks || share < kSmall)) {
      rest += ranks[i]->critical;
      ++others;
    } else {
      text += fmt::format("{}{} on {}{}", i == 0 ? "" : ", ", percent(share),
                          i == 0 ? "pp rank " : "", ranks[i]->pp_rank);
    }
  }
  if (others > 0)
    text += fmt::format(", {} on {}", percent(s.share(rest)), plural(others, "other", "others"));
  bool first = true;
  for (std::size_t ink = 0; ink < kInks; ++ink)
    if (s.share(s.critical[ink]) >= kWorthAWord) {
      text += fmt::format("{}{} {}", first ? "; " : ", ", row(Ink(ink)).name,
                          percent(s.share(s.critical[ink])));
      first = false;
    }
  if (s.share(s.travelled) >= kWorthAWord)
    text += fmt::format(", transfers {}", percent(s.share(s.travelled)));
  return text;
}

std::string what_limits(const Played& p, const TimelineSummary& s) {
  constexpr double kMuch = 0.2;    // of the step
  constexpr double kEven = 0.02;   // more work than the mean, and still called equal
  constexpr double kSmall = 0.05;  // a bubble not worth a word
  const RankSummary& rank = s.longest();
  Seconds mean{};
  for (const RankSummary& one : s.ranks) mean += one.cells / double(s.ranks.size());
  const bool uneven = rank.cells > (1 + kEven) * mean;
  std::string text = fmt::format("pp rank {} is on the critical path for {} of the step",
                                 rank.pp_rank, percent(s.share(rank.critical)));
  if (uneven)
    text += fmt::format(": its cells take {}, the mean is {}; a lighter stage there shortens it",
                        show(rank.cells), show(mean));
  else if (s.ranks.size() > 1)
    text += ", with no more work than the others";
  if (s.share(s.travelled) >= kMuch)
    text += fmt::format("; transfers between stages are {} of it", percent(s.share(s.travelled)));
  const ScheduleRow& schedule = row(p.shape.schedule);
  const bool cut = schedule.groups || p.shape.schedule == Schedule::one_f_one_b;
  if (!uneven && s.bubble > kSmall && s.ranks.size() > 1)
    text += fmt::format("; more microbatches{} shrink the bubble", cut ? " or chunks" : "");
  return text;
}

}  // namespace

const RankSummary& TimelineSummary::longest() const {
  return *std::max_element(
      ranks.begin(), ranks.end(),
      [](const RankSummary& a, const RankSummary& b) { return a.critical < b.critical; });
}

TimelineSummary summary(const Played& p) {
  const i64 pp = p.program.pp();
  TimelineSummary all{.cells = cell_count(p.program), .end = p.timeline.end};
  std::vector<Stretch> path;
  for (const CriticalLink& link : critical_path(p.program, p.durations, p.timeline)) {
    path.push_back({link});
    all.travelled += link.travelled;
  }
  std::vector<std::vector<Stretch*>> by_rank(static_cast<std::size_t>(pp));
  for (Stretch& stretch : path) by_rank[std::size_t(stretch.link.pp_rank)].push_back(&stretch);
  std::vector<Phases> phases_of;
  for (i64 r = 0; r < pp; ++r) {
    const std::vector<Event> line = events(p, r);
    RankSummary rank{.pp_rank = r, .cells = p.timeline.busy[std::size_t(r)]};
    for (const Event& e : line)
      if (!is_cell(e.action.kind) && !is_beside(p.program, r, e.action))
        rank.steps += e.end - e.start;
    rank.idle = std::max(Seconds{}, all.end - rank.cells - rank.steps);
    rank.held = most_held(line);
    rank.phases = phases(line);
    add_links(p, line, by_rank[std::size_t(r)], rank, all);
    all.bubble += all.share(rank.idle) / double(pp);
    phases_of.push_back(rank.phases);
    all.ranks.push_back(rank);
  }
  all.path = runs(path);
  all.bands = bands(phases_of, all.end);
  return all;
}

std::string timeline_title(const Played& p, const TimelineSummary& s) {
  std::string text = fmt::format("{} · {}", p.what, plural(p.program.pp(), "pp rank", "pp ranks"));
  if (p.shape.chunks > 1) text += fmt::format(" x {} chunks", count(p.shape.chunks));
  text += " · " + plural(p.program.microbatches, "microbatch", "microbatches");
  return text + fmt::format(" · step {} · bubble {}", show(s.end), percent(s.bubble));
}

std::vector<Remark> remarks(const Played& p, const TimelineSummary& s) {
  std::string step = show(s.end);
  for (std::size_t i = 0; i < s.bands.size(); ++i)
    step +=
        fmt::format("{}{} {}", i == 0 ? ": " : ", ", s.bands[i].name, show(s.bands[i].length()));
  const auto [low, high] = std::minmax_element(
      s.ranks.begin(), s.ranks.end(),
      [](const RankSummary& a, const RankSummary& b) { return a.idle < b.idle; });
  std::string bubble = fmt::format("{} of the ranks' time is idle", percent(s.bubble));
  if (high->idle > low->idle)
    bubble +=
        fmt::format(": from {} on pp rank {} to {} on pp rank {}", percent(s.share(low->idle)),
                    low->pp_rank, percent(s.share(high->idle)), high->pp_rank);
  std::vector<Remark> all = {{"step", std::move(step)},
                             {"bubble", std::move(bubble)},
                             {"critical path", path_in_words(s)},
                             {"limits", what_limits(p, s)}};
  if (!p.times.empty()) all.push_back({"times", p.times});
  return all;
}

}  // namespace rankwright
