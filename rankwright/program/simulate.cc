#include "rankwright/program/simulate.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "rankwright/base/check.h"
#include "rankwright/program/cross_stage_collectives.h"

namespace rankwright::program {
namespace {

constexpr double kNotYet = -1;

/// Runs each rank as far as its inputs have come, then those that waited for what it made.
class Simulator {
 public:
  Simulator(const Program& program, const Durations& durations)
      : program_(program),
        times_(durations),
        owners_(program.stage_to_rank),
        cross_stage_(find_cross_stage_collectives(program)),
        activations_(owners_.size(), kNotYet),
        gradients_(owners_.size(), kNotYet),
        ranks_(program.roles.size()),
        met_(cross_stage_.members.size()) {}

  Timeline run() {
    Timeline timeline;
    timeline.starts.resize(ranks_.size());
    // Room for all actions: what transfers leave unused is never touched.
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      timeline.starts[r].reserve(program_.roles[r].size());
    for (std::size_t r = ranks_.size(); r-- > 0;) awake_.push_back(r);
    while (!awake_.empty()) {
      const std::size_t r = awake_.back();
      awake_.pop_back();
      advance(r, timeline.starts[r]);
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RW_CHECK(ranks_[r].next == program_.roles[r].size());
      timeline.busy.push_back(Seconds{ranks_[r].busy});
      timeline.end = std::max(timeline.end, Seconds{std::max(ranks_[r].free, ranks_[r].side)});
    }
    return timeline;
  }

 private:
  struct Rank {
    std::size_t next = 0;
    double free = 0;  // when its last cell ends
    double side = 0;  // when what runs beside ends
    double busy = 0;
    const double* waits = nullptr;  // for this entry of a table
    bool arrived = false;           // at the meeting that it stands at
  };
  struct Meeting {
    std::size_t arrived = 0;
    double latest = 0;
  };

  void advance(std::size_t r, std::vector<Seconds>& starts) {
    const Sequence& role = program_.roles[r];
    Rank& rank = ranks_[r];
    rank.waits = nullptr;
    while (rank.next < role.size()) {
      const Action& a = role[rank.next];
      if (is_transfer(a.kind)) {
        ++rank.next;
      } else if (is_cell(a.kind)) {
        if (!cells(r, starts)) return;
      } else if (!step(r, a, starts)) {
        return;
      }
    }
  }

  /// When the input of a cell is there; 0 where it has none.
  const double* input(const Action& a) const {
    static constexpr double kAlways = 0;
    if (a.kind == ActionKind::forward)
      return a.stage == 0 ? &kAlways : &activations_[owners_.index(a.stage, a.microbatch)];
    if (gives_gradient(a.kind) && i64(a.stage) + 1 < program_.stages)
      return &gradients_[owners_.index(a.stage, a.microbatch)];
    return &kAlways;
  }

  /// One cell, or several that are joined.
  bool cells(std::size_t r, std::vector<Seconds>& starts) {
    const Sequence& role = program_.roles[r];
    Rank& rank = ranks_[r];
    double start = rank.free;
    double length = 0;
    std::size_t end = rank.next;
    for (bool more = true; more; ++end) {
      const Action& a = role[end];
      const double* const ready = input(a);
      if (*ready == kNotYet) {
        rank.waits = ready;
        return false;
      }
      start = std::max(start, *ready);
      length += times_.of(a).value;
      more = a.joined != 0;
    }
    if (end - rank.next > 1) length *= times_.together;
    // Hundreds of lines are read and written in turn, more than the processor foresees.
    constexpr std::size_t kAhead = 24;
    __builtin_prefetch(role.data() + end + kAhead);
    __builtin_prefetch(starts.data() + starts.size() + kAhead, 1);
    for (std::size_t i = rank.next; i < end; ++i) {
      starts.push_back(Seconds{start});
      hand_on(r, role[i], start + length);
    }
    rank.free = start + length;
    rank.busy += length;
    rank.next = end;
    return true;
  }

  void hand_on(std::size_t r, const Action& a, double done) {
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind == ActionKind::forward && s + 1 < program_.stages)
      arrive(r, owners_.of(s + 1, m), activations_[owners_.index(s + 1, m)], done,
             times_.activation[std::size_t(s)]);
    else if (gives_gradient(a.kind) && s > 0)
      arrive(r, owners_.of(s - 1, m), gradients_[owners_.index(s - 1, m)], done,
             times_.gradient[std::size_t(s - 1)]);
  }

  void arrive(std::size_t r, i64 other, double& entry, double done, Seconds travel) {
    entry = other == i64(r) ? done : done + travel.value;
    if (other >= 0 && ranks_[std::size_t(other)].waits == &entry)
      awake_.push_back(std::size_t(other));
  }

  bool step(std::size_t r, const Action& a, std::vector<Seconds>& starts) {
    Rank& rank = ranks_[r];
    const Step& what = program_.steps[r][a.microbatch];
    const double length = times_.steps[r][a.microbatch].value;
    if (what.beside) {
      const double start = std::max(rank.free, rank.side);
      starts.push_back(Seconds{start});
      rank.side = start + length;
      ++rank.next;
      return true;
    }
    double start = std::max(rank.free, rank.side);
    const i64 meeting = cross_stage_.of_step[r][a.microbatch];
    if (meeting != CrossStageCollectives::kNone) {
      Meeting& met = met_[std::size_t(meeting)];
      const std::vector<i64>& members = cross_stage_.members[std::size_t(meeting)];
      if (!rank.arrived) {
        rank.arrived = true;
        met.latest = std::max(met.latest, start);
        if (++met.arrived == members.size())
          for (const i64 other : members) awake_.push_back(std::size_t(other));
      }
      if (met.arrived < members.size()) return false;
      start = met.latest;
      rank.arrived = false;
    }
    starts.push_back(Seconds{start});
    rank.free = rank.side = start + length;
    ++rank.next;
    return true;
  }

  const Program& program_;
  const Durations& times_;
  const StageToRank& owners_;
  CrossStageCollectives cross_stage_;
  std::vector<double> activations_, gradients_;  // when they have come, by stage that needs them
  std::vector<Rank> ranks_;
  std::vector<Meeting> met_;
  std::vector<std::size_t> awake_{};
};

}  // namespace

Durations alike(const Program& program, Seconds forward, Seconds input, Seconds weight) {
  Durations times;
  times.cells.assign(std::size_t(program.stages), {forward, input + weight, input, weight});
  times.activation.assign(std::size_t(program.stages), Seconds{});
  times.gradient.assign(std::size_t(program.stages), Seconds{});
  for (const Body& steps : program.steps) times.steps.emplace_back(steps.size(), Seconds{});
  return times;
}

double Timeline::idle_share() const {
  const Seconds worked = std::accumulate(busy.begin(), busy.end(), Seconds{});
  if (end.value == 0) return 0;
  return 1 - worked / (end * double(busy.size()));
}

Timeline simulate(const Program& program, const Durations& durations) {
  return Simulator(program, durations).run();
}

}  // namespace rankwright::program
