#include "rankwright/program/simulate.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "rankwright/base/check.h"
#include "rankwright/program/cross_stage_collectives.h"

namespace rankwright::program {
namespace {

constexpr double kNotYet = -1;

/// Advances each rank until it lacks an input, then the ranks that waited for its results.
class Simulator {
 public:
  Simulator(const Program& program, const Durations& durations)
      : program_(program),
        times_(durations),
        stage_to_rank_(program.stage_to_rank),
        cross_stage_(find_cross_stage_collectives(program)),
        activations_(stage_to_rank_.size(), kNotYet),
        gradients_(stage_to_rank_.size(), kNotYet),
        ranks_(program.roles.size()),
        arrivals_(cross_stage_.members.size()) {}

  Timeline run() {
    Timeline timeline;
    timeline.starts.resize(ranks_.size());
    // Reserves an entry per action. Transfers need none, but unused memory is never touched.
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
    double free = 0;                // end of its last cell or blocking step
    double side = 0;                // end of its last overlapped step
    double busy = 0;                // time in cells
    const double* waits = nullptr;  // the table entry that it waits for
    bool arrived = false;           // at the collective that is its next step
  };
  struct Arrivals {
    std::size_t arrived = 0;
    double latest = 0;
  };

  void advance(std::size_t r, std::vector<Seconds>& starts) {
    const pipeline::Sequence& role = program_.roles[r];
    Rank& rank = ranks_[r];
    rank.waits = nullptr;
    while (rank.next < role.size()) {
      const pipeline::Action& a = role[rank.next];
      if (is_transfer(a.kind)) {
        ++rank.next;
      } else if (is_cell(a.kind)) {
        if (!cells(r, starts)) return;
      } else if (!step(r, a, starts)) {
        return;
      }
    }
  }

  /// Returns the entry with the arrival time of a cell's input; 0 if it has no input.
  const double* input(const pipeline::Action& a) const {
    static constexpr double kAlways = 0;
    if (a.kind == pipeline::ActionKind::forward)
      return a.stage == 0 ? &kAlways : &activations_[stage_to_rank_.index(a.stage, a.microbatch)];
    if (gives_gradient(a.kind) && i64(a.stage) + 1 < program_.stages)
      return &gradients_[stage_to_rank_.index(a.stage, a.microbatch)];
    return &kAlways;
  }

  /// Runs one cell or several joined cells; returns false if an input is missing.
  bool cells(std::size_t r, std::vector<Seconds>& starts) {
    const pipeline::Sequence& role = program_.roles[r];
    Rank& rank = ranks_[r];
    double start = rank.free;
    double length = 0;
    std::size_t end = rank.next;
    for (bool more = true; more; ++end) {
      const pipeline::Action& a = role[end];
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
    // Hundreds of sequences are read and written in turn, too many for the hardware prefetcher.
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

  void hand_on(std::size_t r, const pipeline::Action& a, double done) {
    const i64 s = a.stage, m = a.microbatch;
    if (a.kind == pipeline::ActionKind::forward && s + 1 < program_.stages)
      arrive(r, stage_to_rank_.of(s + 1, m), activations_[stage_to_rank_.index(s + 1, m)], done,
             times_.activation[std::size_t(s)]);
    else if (gives_gradient(a.kind) && s > 0)
      arrive(r, stage_to_rank_.of(s - 1, m), gradients_[stage_to_rank_.index(s - 1, m)], done,
             times_.gradient[std::size_t(s - 1)]);
  }

  void arrive(std::size_t r, i64 other, double& entry, double done, Seconds travel) {
    entry = other == i64(r) ? done : done + travel.value;
    if (other >= 0 && ranks_[std::size_t(other)].waits == &entry)
      awake_.push_back(std::size_t(other));
  }

  bool step(std::size_t r, const pipeline::Action& a, std::vector<Seconds>& starts) {
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
    const i64 collective = cross_stage_.of_step[r][a.microbatch];
    if (collective != CrossStageCollectives::kNone) {
      Arrivals& met = arrivals_[std::size_t(collective)];
      const std::vector<i64>& members = cross_stage_.members[std::size_t(collective)];
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
  const StageToRank& stage_to_rank_;
  CrossStageCollectives cross_stage_;
  std::vector<double> activations_, gradients_;  // arrival times, by receiving stage
  std::vector<Rank> ranks_;
  std::vector<Arrivals> arrivals_;
  std::vector<std::size_t> awake_{};
};

}  // namespace

Durations make_equal_durations(const Program& program, Seconds forward, Seconds input,
                               Seconds weight) {
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
