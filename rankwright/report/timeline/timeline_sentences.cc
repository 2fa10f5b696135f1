#include "rankwright/report/timeline/timeline_sentences.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/report/render/event_color.h"

namespace rankwright::report {
namespace {

constexpr double kMinShare = 0.0005;  // of the step; smaller shares are not mentioned

/// Lists the ranks with the largest shares of the critical path, then the kinds of work on it.
std::string describe_path(const planner::TimelineSummary& s) {
  constexpr std::size_t kMaxRanks = 4;
  constexpr double kSmall = 0.05;  // ranks with less are counted together
  std::vector<const planner::RankSummary*> ranks;
  for (const planner::RankSummary& rank : s.ranks)
    if (rank.critical.value > 0) ranks.push_back(&rank);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const planner::RankSummary* a, const planner::RankSummary* b) {
                     return a->critical > b->critical;
                   });
  if (ranks.empty()) return "nothing takes time";
  std::string text;
  Seconds rest{};
  i64 others = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double share = s.share(ranks[i]->critical);
    if (i > 0 && (i >= kMaxRanks || share < kSmall)) {
      rest += ranks[i]->critical;
      ++others;
    } else {
      text += fmt::format("{}{} on {}{}", i == 0 ? "" : ", ", percent(share),
                          i == 0 ? "PP rank " : "", ranks[i]->pp_rank);
    }
  }
  if (others > 0)
    text += fmt::format(", {} on {}", percent(s.share(rest)), plural(others, "other", "others"));
  bool first = true;
  for (std::size_t kind = 0; kind < planner::kEventKinds; ++kind)
    if (s.share(s.critical[kind]) >= kMinShare) {
      text += fmt::format("{}{} {}", first ? "; " : ", ", row(planner::EventKind(kind)).name,
                          percent(s.share(s.critical[kind])));
      first = false;
    }
  if (s.share(s.travelled) >= kMinShare)
    text += fmt::format(", transfers {}", percent(s.share(s.travelled)));
  return text;
}

std::string describe_limits(const planner::SimulatedStep& p, const planner::TimelineSummary& s) {
  constexpr double kMuch = 0.2;    // of the step
  constexpr double kEven = 0.02;   // up to this much more work than the mean counts as equal
  constexpr double kSmall = 0.05;  // a smaller idle share is not mentioned
  const planner::RankSummary& rank = s.longest();
  Seconds mean{};
  for (const planner::RankSummary& one : s.ranks) mean += one.cells / double(s.ranks.size());
  const bool uneven = rank.cells > (1 + kEven) * mean;
  std::string text = fmt::format("PP rank {} is on the critical path for {} of the step",
                                 rank.pp_rank, percent(s.share(rank.critical)));
  const bool can_move = s.can_move_layers.value_or(false);
  if (uneven) {
    text += fmt::format(": it computes for {}, the average is {}", show(rank.cells), show(mean));
    if (s.can_move_layers)
      text += can_move ? "; give it fewer layers (explain --stages)"
                       : "; no split of the layers is more even (explain --stages)";
  } else if (s.ranks.size() > 1) {
    text += ", with no more work than the others";
  }
  if (s.share(s.travelled) >= kMuch)
    text += fmt::format("; transfers between stages take {} of it", percent(s.share(s.travelled)));
  const pipeline::ScheduleRow& schedule = row(p.shape.schedule);
  const bool cut = schedule.groups || p.shape.schedule == pipeline::Schedule::one_f_one_b;
  if (!(uneven && can_move) && s.idle > kSmall && s.ranks.size() > 1)
    text +=
        fmt::format("; more micro-batches{} shrink the idle time", cut ? " or virtual stages" : "");
  return text;
}

}  // namespace

std::string write_timeline_title(const planner::SimulatedStep& p,
                                 const planner::TimelineSummary& s) {
  std::string text = fmt::format("{} · {}", p.what, plural(p.program.pp(), "PP rank", "PP ranks"));
  if (p.shape.chunks > 1) text += fmt::format(" x {} virtual stages", count(p.shape.chunks));
  text += " · " + plural(p.program.microbatches, "micro-batch", "micro-batches");
  return text + fmt::format(" · step {} · idle {}", show(s.end), percent(s.idle));
}

std::vector<Remark> write_remarks(const planner::SimulatedStep& p,
                                  const planner::TimelineSummary& s) {
  std::string step = show(s.end);
  for (std::size_t i = 0; i < s.bands.size(); ++i)
    step +=
        fmt::format("{}{} {}", i == 0 ? ": " : ", ", s.bands[i].name, show(s.bands[i].length()));
  const auto [low, high] = std::minmax_element(
      s.ranks.begin(), s.ranks.end(),
      [](const planner::RankSummary& a, const planner::RankSummary& b) { return a.idle < b.idle; });
  std::string idle = fmt::format("{} of the ranks' time", percent(s.idle));
  if (high->idle > low->idle)
    idle += fmt::format(": from {} on PP rank {} to {} on PP rank {}", percent(s.share(low->idle)),
                        low->pp_rank, percent(s.share(high->idle)), high->pp_rank);
  std::vector<Remark> all = {{"step", std::move(step)},
                             {"idle", std::move(idle)},
                             {"critical path", describe_path(s)},
                             {"limits", describe_limits(p, s)}};
  if (!p.times.empty()) all.push_back({"times", p.times});
  return all;
}

}  // namespace rankwright::report
