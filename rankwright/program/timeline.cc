#include "rankwright/program/timeline.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "rankwright/program/cross_stage_collectives.h"

namespace rankwright::program {
namespace {

Seconds length_of(const Durations& times, i64 pp_rank, const pipeline::Action& a) {
  return a.kind == pipeline::ActionKind::step ? times.steps[std::size_t(pp_rank)][a.microbatch]
                                              : times.of(a);
}

/// The index of every forward and every gradient in the events of its rank.
class Positions {
 public:
  Positions(const Program& program, const std::vector<std::vector<Event>>& all)
      : stage_to_rank_(program.stage_to_rank),
        forwards_(stage_to_rank_.size(), 0),
        gradients_(stage_to_rank_.size(), 0) {
    for (const std::vector<Event>& of_rank : all)
      for (std::size_t i = 0; i < of_rank.size(); ++i) {
        const pipeline::Action& a = of_rank[i].action;
        if (a.kind == pipeline::ActionKind::forward)
          forwards_[stage_to_rank_.index(a.stage, a.microbatch)] = std::uint32_t(i);
        else if (gives_gradient(a.kind))
          gradients_[stage_to_rank_.index(a.stage, a.microbatch)] = std::uint32_t(i);
      }
  }
  std::size_t forward(i64 stage, i64 microbatch) const {
    return forwards_[stage_to_rank_.index(stage, microbatch)];
  }
  std::size_t gradient(i64 stage, i64 microbatch) const {
    return gradients_[stage_to_rank_.index(stage, microbatch)];
  }

 private:
  const StageToRank& stage_to_rank_;
  std::vector<std::uint32_t> forwards_, gradients_;
};

}  // namespace

std::vector<Event> events(const Program& program, const Durations& times, const Timeline& timeline,
                          i64 pp_rank) {
  std::vector<Event> all;
  const std::vector<Seconds>& starts = timeline.starts[std::size_t(pp_rank)];
  all.reserve(starts.size());
  std::size_t at = 0;
  bool inside = false;  // after a cell that is joined to the next
  for (const pipeline::Action& a : program.roles[std::size_t(pp_rank)]) {
    if (is_transfer(a.kind)) continue;
    const bool joined = inside || a.joined != 0;
    const Seconds start = inside ? all.back().end : starts[at];
    const Seconds length = (joined ? times.together : 1.0) * length_of(times, pp_rank, a);
    all.push_back({a, start, start + length});
    inside = is_cell(a.kind) && a.joined != 0;
    ++at;
  }
  return all;
}

Phases phases(const std::vector<Event>& events) {
  Phases p;
  bool any = false, backward = false;
  for (const Event& e : events) {
    if (!is_cell(e.action.kind)) continue;
    if (!any) p.first = e.start;
    any = true;
    if (gives_gradient(e.action.kind) && !backward) {
      p.warm = e.start;
      backward = true;
    }
    if (e.action.kind == pipeline::ActionKind::forward) p.drain = e.end;
    p.last = e.end;
  }
  return p;
}

namespace {

/// Walks back from the last event through the events that each one waited for.
class Tracer {
 public:
  Tracer(const Program& program, const Durations& times, const Timeline& timeline)
      : program_(program),
        times_(times),
        cross_stage_(find_cross_stage_collectives(program)),
        calls_(cross_stage_.members.size()) {
    for (i64 r = 0; r < program.pp(); ++r) {
      all_.push_back(events(program, times, timeline, r));
      before_.push_back(before_each(r));
      for (std::size_t i = 0; i < of(r).size(); ++i)
        if (const i64 collective = find_collective({r, i});
            collective != CrossStageCollectives::kNone)
          calls_[std::size_t(collective)].push_back({r, i});
    }
    positions_.emplace(program, all_);
  }

  std::vector<CriticalLink> run() {
    std::vector<CriticalLink> chain;
    for (std::optional<At> at = latest(); at;) {
      chain.push_back({at->rank, {event(*at).action, start(*at), end(*at)}});
      const std::optional<At> before = cause(*at);
      if (before) chain.back().travelled = start(*at) - end(*before);
      at = before;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

 private:
  struct At {
    i64 rank;
    std::size_t index;
  };

  const std::vector<Event>& of(i64 rank) const { return all_[std::size_t(rank)]; }
  const Event& event(At at) const { return of(at.rank)[at.index]; }

  /// Returns the first of the cells joined with `at`; joined cells start and end together.
  std::size_t first(At at) const {
    while (at.index > 0 && is_cell(of(at.rank)[at.index - 1].action.kind) &&
           of(at.rank)[at.index - 1].action.joined != 0)
      --at.index;
    return at.index;
  }
  Seconds start(At at) const { return of(at.rank)[first(at)].start; }
  Seconds end(At at) const {
    while (is_cell(event(at).action.kind) && event(at).action.joined != 0) ++at.index;
    return event(at).end;
  }

  std::optional<At> latest() const {
    std::optional<At> last;
    for (i64 r = 0; r < i64(all_.size()); ++r)
      for (std::size_t i = 0; i < of(r).size(); ++i)
        if (!last || event({r, i}).end > event(*last).end) last = At{r, i};
    return last;
  }

  /// Returns the event that `at` waited for longest, preferring its own rank on a tie; nullopt if
  /// it started at time 0.
  std::optional<At> cause(At at) const {
    std::optional<At> found;
    Seconds when{};
    const auto consider = [&](At other, Seconds arrival) {
      if (arrival > when) {
        found = other;
        when = arrival;
      }
    };
    const std::size_t begin = first(at);
    past({at.rank, begin}, consider);
    for (std::size_t i = begin; i <= at.index || of(at.rank)[i - 1].action.joined != 0; ++i)
      inputs({at.rank, i}, consider);
    return found;
  }

  /// Considers the predecessors of `at` on its rank: the last cell or blocking step and, if `at` is
  /// a step, the last overlapped step since a blocking one. Cells do not wait for overlapped steps.
  template <class Consider>
  void past(At at, const Consider& consider) const {
    auto [near, far] = before_[std::size_t(at.rank)][at.index];
    if (event(at).action.kind != pipeline::ActionKind::step) far = kNothing;
    if (far != kNothing && (near == kNothing || far > near)) std::swap(near, far);
    for (const std::uint32_t i : {near, far})
      if (i != kNothing) consider({at.rank, i}, end({at.rank, i}));
  }

  /// Predecessors of an event on its rank: the last cell or blocking step, and the last overlapped
  /// step since a blocking one. Precomputed, because a training step may have a million overlapped
  /// steps in a row.
  struct Before {
    std::uint32_t front, side;
  };
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

  std::vector<Before> before_each(i64 rank) const {
    std::vector<Before> all;
    all.reserve(of(rank).size());
    Before now{kNothing, kNothing};
    for (std::size_t i = 0; i < of(rank).size(); ++i) {
      all.push_back(now);
      if (beside(rank, i)) {
        now.side = std::uint32_t(i);
        continue;
      }
      now.front = std::uint32_t(i);
      if (of(rank)[i].action.kind == pipeline::ActionKind::step) now.side = kNothing;
    }
    return all;
  }

  bool beside(i64 rank, std::size_t i) const {
    const pipeline::Action& a = of(rank)[i].action;
    return a.kind == pipeline::ActionKind::step &&
           program_.steps[std::size_t(rank)][a.microbatch].beside;
  }

  template <class Consider>
  void inputs(At at, const Consider& consider) const {
    const pipeline::Action& a = event(at).action;
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind == pipeline::ActionKind::forward && s > 0)
      from({program_.stage_to_rank.of(s - 1, m), positions_->forward(s - 1, m)}, at.rank,
           times_.activation[std::size_t(s - 1)], consider);
    else if (gives_gradient(a.kind) && s + 1 < program_.stages)
      from({program_.stage_to_rank.of(s + 1, m), positions_->gradient(s + 1, m)}, at.rank,
           times_.gradient[std::size_t(s)], consider);
    else if (a.kind == pipeline::ActionKind::step)
      met(at, consider);
  }

  template <class Consider>
  void from(At producer, i64 rank, Seconds travel, const Consider& consider) const {
    consider(producer, end(producer) + (producer.rank == rank ? Seconds{} : travel));
  }

  /// Considers the predecessors of all members: a collective starts when its last member arrives.
  template <class Consider>
  void met(At at, const Consider& consider) const {
    const i64 collective = find_collective(at);
    if (collective == CrossStageCollectives::kNone) return;
    for (const At call : calls_[std::size_t(collective)]) past(call, consider);
  }

  i64 find_collective(At at) const {
    const pipeline::Action& a = event(at).action;
    return a.kind == pipeline::ActionKind::step
               ? cross_stage_.of_step[std::size_t(at.rank)][a.microbatch]
               : CrossStageCollectives::kNone;
  }

  const Program& program_;
  const Durations& times_;
  CrossStageCollectives cross_stage_;
  std::vector<std::vector<At>> calls_;  // by collective: its members' steps
  std::vector<std::vector<Event>> all_{};
  std::vector<std::vector<Before>> before_{};
  std::optional<Positions> positions_{};
};

}  // namespace

std::vector<CriticalLink> find_critical_path(const Program& program, const Durations& durations,
                                             const Timeline& timeline) {
  return Tracer(program, durations, timeline).run();
}

}  // namespace rankwright::program
