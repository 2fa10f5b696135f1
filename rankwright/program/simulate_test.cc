#include "rankwright/program/simulate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "rankwright/program/timeline.h"
#include "tests/support/pipelines.h"

namespace rankwright::program {
namespace simulate_test {

using pipelines::program_of;
using pipelines::valid_shape;

constexpr Seconds kUnit{1};

/// Returns the step time minus the work of one rank.
double bubble(const pipeline::PipelineShape& shape, double f, double i, double w) {
  const Program program = program_of(shape);
  const Durations times = make_equal_durations(program, {f}, {i}, {w});
  const double work = double(shape.chunks * shape.microbatches) * (f + i + w);
  return simulate(program, times).end.value - work;
}

TEST(Simulate, OneRankHasNoBubble) {
  EXPECT_EQ(bubble({pipeline::Schedule::one_f_one_b, 1, 1, 5}, 1, 1, 1), 0);
}

TEST(Simulate, MatchesTheWorkedExample) {
  // Two ranks, one microbatch, F 2, I 3, W 1, a transfer 5 forward and 7 back:
  // F on rank 0 until 2, F on rank 1 from 7 to 9, B to 13, B on rank 0 from 20 to 24.
  const Program program = program_of({pipeline::Schedule::one_f_one_b, 2, 1, 1});
  Durations times = make_equal_durations(program, {2}, {3}, {1});
  times.activation[0] = {5};
  times.gradient[0] = {7};
  const Timeline timeline = simulate(program, times);
  EXPECT_EQ(timeline.end, Seconds{24});
  EXPECT_EQ(timeline.starts[1], (std::vector<Seconds>{{7}, {9}}));
  EXPECT_EQ(timeline.busy, (std::vector<Seconds>{{6}, {6}}));
  EXPECT_DOUBLE_EQ(timeline.idle_share(), 1 - 12.0 / 48);
  double compute = 0, travel = 0;
  for (const CriticalLink& link : find_critical_path(program, times, timeline)) {
    compute += (link.event.end - link.event.start).value;
    travel += link.travelled.value;
  }
  EXPECT_EQ(compute, 12);  // both F and both B
  EXPECT_EQ(travel, 12);
}

// The closed forms of docs/reference/formulas.md#B, with F, I and W the times of one chunk.

TEST(Simulate, GPipeAndOneFOneBMatchB1) {
  for (const pipeline::Schedule s : {pipeline::Schedule::gpipe, pipeline::Schedule::one_f_one_b})
    for (const i64 pp : {1, 2, 4, 7, 16})
      for (const i64 m : {1, 3, 16, 33})
        EXPECT_EQ(bubble({s, pp, 1, m}, 4, 5, 3), double(pp - 1) * (4 + 5 + 3)) << name(s);
}

TEST(Simulate, InterleavedAndLoopedBfsMatchB2) {
  for (const pipeline::Schedule s :
       {pipeline::Schedule::interleaved, pipeline::Schedule::looped_bfs})
    for (const i64 pp : {2, 4, 8})
      for (const i64 chunks : {2, 3, 4})
        for (const i64 m : {pp, 2 * pp, 8 * pp})
          EXPECT_EQ(bubble({s, pp, chunks, m}, 4, 5, 3), double(pp - 1) * (4 + 5 + 3)) << name(s);
}

TEST(Simulate, ZbH1MatchesB3IfWIsShortest) {
  for (const i64 pp : {2, 4, 8})
    for (const i64 m : {pp, 3 * pp})
      for (const auto& [f, i, w] : {std::array{1.0, 1.0, 1.0}, {4.0, 5.0, 3.0}, {3.0, 2.0, 1.0}}) {
        EXPECT_EQ(bubble({pipeline::Schedule::zb_h1, pp, 1, m}, f, i, w),
                  double(pp - 1) * (f + i - w));
        EXPECT_EQ(bubble({pipeline::Schedule::interleaved_zb, pp, 2, m}, f, i, w),
                  double(pp - 1) * (f + i - w));
      }
}

TEST(Simulate, ZbH1BubbleIsAtLeastTheFill) {
  // F 2, I 1, W 2: B3 gives (pp - 1)(2 + 1 - 2) = 3, but rank 3 cannot start before 3 F = 6.
  EXPECT_EQ(bubble({pipeline::Schedule::zb_h1, 4, 1, 16}, 2, 1, 2), 6);
}

/// Returns the longest time of any rank from its first cell to its last, minus its work.
double own_bubble(const pipeline::PipelineShape& shape, double f, double i, double w) {
  const Program program = program_of(shape);
  const Durations times = make_equal_durations(program, {f}, {i}, {w});
  const Timeline timeline = simulate(program, times);
  double longest = 0;
  for (i64 r = 0; r < shape.pp; ++r) {
    const Phases p = phases(events(program, times, timeline, r));
    longest = std::max(longest, (p.last - p.first).value);
  }
  return longest - double(shape.chunks * shape.microbatches) * (f + i + w);
}

TEST(Simulate, Zb2pAndZbVMatchB4) {
  // No rank waits between its first and its last cell. The step is still (pp - 1) F longer than a
  // rank's work, because rank r starts r F late; the paper overlaps this with the next step.
  for (const i64 pp : {2, 4, 8})
    for (const i64 m : {2 * pp, 5 * pp}) {
      EXPECT_EQ(own_bubble({pipeline::Schedule::zb_2p, pp, 1, m}, 1, 1, 1), 0);
      EXPECT_EQ(own_bubble({pipeline::Schedule::zb_v, pp, 2, m}, 1, 1, 1), 0);
      EXPECT_EQ(bubble({pipeline::Schedule::zb_2p, pp, 1, m}, 1, 1, 1), double(pp - 1));
      EXPECT_EQ(bubble({pipeline::Schedule::zb_v, pp, 2, m}, 1, 1, 1), double(pp - 1));
      // If W is shorter, the bubble is (pp - 1)(F + I - 2W), as in the paper for ZB-H2.
      EXPECT_EQ(own_bubble({pipeline::Schedule::zb_2p, pp, 1, m}, 2, 3, 1),
                double(pp - 1) * (2 + 3 - 2));
    }
}

TEST(Simulate, DualPipeMatchesB5IfFEqualsI) {
  // (pp/2 - 1)(F + B + B - 3W) with F&B = F + B; for DualPipeV (pp - 1) times that in chunk time.
  for (const i64 pp : {2, 4, 8})
    for (const i64 m : {2 * pp, 4 * pp})
      for (const auto& [f, w] : {std::pair{1.0, 1.0}, {2.0, 1.0}}) {
        const double each = f + 2 * (f + w) - 3 * w;
        EXPECT_EQ(bubble({pipeline::Schedule::dualpipe, pp, 1, m}, f, f, w),
                  double(pp / 2 - 1) * each);
        EXPECT_EQ(bubble({pipeline::Schedule::dualpipe_v, pp, 2, m}, f, f, w),
                  double(pp - 1) * each);
      }
}

TEST(Simulate, JoinedCellsTakeTheOverlapFraction) {
  // pp 2, 4 microbatches: one joined pair per rank, F 1 and B 2, takes 2/3 of their sum, 2.
  const Program program = program_of({pipeline::Schedule::dualpipe, 2, 1, 4});
  Durations times = make_equal_durations(program, kUnit, kUnit, kUnit);
  const Seconds before = simulate(program, times).end;
  times.together = 2.0 / 3;
  const Timeline timeline = simulate(program, times);
  EXPECT_NEAR((before - timeline.end).value, 1, 1e-12);
  EXPECT_NEAR(timeline.busy[0].value, 12 - 1, 1e-12);
}

/// Returns random durations for all stages and transfers.
Durations random_durations(const Program& program) {
  Durations times = make_equal_durations(program, kUnit, kUnit, kUnit);
  const auto some = [] { return Seconds{double(*rc::gen::inRange(1, 20))}; };
  for (std::array<Seconds, 4>& stage : times.cells) {
    stage = {some(), {}, some(), some()};
    stage[1] = stage[2] + stage[3];
  }
  for (Seconds& t : times.activation) t = some();
  for (Seconds& t : times.gradient) t = some();
  return times;
}

RC_GTEST_PROP(Simulate, RespectsEveryDependency, ()) {
  const pipeline::PipelineShape shape = valid_shape();
  const Program program = program_of(shape);
  const Durations times = random_durations(program);
  const Timeline timeline = simulate(program, times);
  std::vector<Seconds> forward(program.stage_to_rank.size()), gradient(forward.size());
  std::vector<std::vector<Event>> all;
  for (i64 r = 0; r < program.pp(); ++r) {
    all.push_back(events(program, times, timeline, r));
    RC_ASSERT(!all.back().empty());
    Seconds free{};
    for (const Event& e : all.back()) {
      RC_ASSERT(e.start >= free);
      free = e.end;
      const std::size_t at = program.stage_to_rank.index(e.action.stage, e.action.microbatch);
      // A joined pair sends both results when it ends.
      if (e.action.kind == pipeline::ActionKind::forward) forward[at] = e.end;
      if (gives_gradient(e.action.kind)) gradient[at] = e.end;
    }
    RC_ASSERT(free <= timeline.end);
  }
  for (i64 r = 0; r < program.pp(); ++r)
    for (const Event& e : all[std::size_t(r)]) {
      const i64 s = e.action.stage, m = e.action.microbatch;
      const std::size_t at = program.stage_to_rank.index(s, m);
      const auto travel = [&](i64 other, Seconds t) {
        return program.stage_to_rank.of(other, m) == r ? Seconds{} : t;
      };
      if (e.action.kind == pipeline::ActionKind::forward && s > 0)
        RC_ASSERT(e.start >= forward[program.stage_to_rank.index(s - 1, m)] +
                                 travel(s - 1, times.activation[std::size_t(s - 1)]));
      if (gives_gradient(e.action.kind)) {
        RC_ASSERT(e.start >= forward[at]);
        if (s + 1 < program.stages)
          RC_ASSERT(e.end - times.of(e.action) >=
                    gradient[program.stage_to_rank.index(s + 1, m)] +
                        travel(s + 1, times.gradient[std::size_t(s)]));
      }
      if (e.action.kind == pipeline::ActionKind::weight_grad) RC_ASSERT(e.start >= gradient[at]);
    }
}

RC_GTEST_PROP(CriticalPath, AddsUpToTheStep, ()) {
  const pipeline::PipelineShape shape = valid_shape();
  const Program program = program_of(shape);
  const Durations times = random_durations(program);
  const Timeline timeline = simulate(program, times);
  const std::vector<CriticalLink> path = find_critical_path(program, times, timeline);
  RC_ASSERT(path.back().event.end == timeline.end);
  // There is no slack: the durations of the links and of their transfers add up to the step.
  Seconds sum{};
  for (const CriticalLink& link : path) sum += link.event.end - link.event.start + link.travelled;
  RC_ASSERT(sum == timeline.end);
}

RC_GTEST_PROP(CriticalPath, FasterStagesOffThePathDoNotShortenTheStep, ()) {
  // Speeding up a stage whose cells are not on the path changes nothing. Schedules with joined
  // cells are excluded, because a cell on the path puts its partner's stage on the path too.
  const pipeline::PipelineShape shape = valid_shape();
  if (shape.schedule == pipeline::Schedule::dualpipe ||
      shape.schedule == pipeline::Schedule::dualpipe_v)
    return;
  const Program program = program_of(shape);
  Durations times = random_durations(program);
  const Timeline before = simulate(program, times);
  std::vector<bool> on_path(std::size_t(program.stages), false);
  for (const CriticalLink& link : find_critical_path(program, times, before))
    if (is_cell(link.event.action.kind)) on_path[link.event.action.stage] = true;
  for (i64 s = 0; s < program.stages; ++s)
    if (!on_path[std::size_t(s)])
      for (Seconds& t : times.cells[std::size_t(s)]) t = 0.5 * t;
  RC_ASSERT(simulate(program, times).end == before.end);
}

RC_GTEST_PROP(Simulate, NeverShortensWithALongerDuration, ()) {
  const pipeline::PipelineShape shape = valid_shape();
  const Program program = program_of(shape);
  Durations times = random_durations(program);
  const Seconds before = simulate(program, times).end;
  const std::size_t stage = *rc::gen::inRange<std::size_t>(0, times.cells.size());
  times.cells[stage][*rc::gen::inRange<std::size_t>(0, 4)] += kUnit;
  RC_ASSERT(simulate(program, times).end >= before);
}

TEST(Simulate, CollectiveWaitsForAllMembers) {
  // Rank 0 ends its last backward at time 9 and rank 1 at time 7. On rank 1, an overlapped step of
  // length 5 starts at 7 and delays the collective of both ranks to 12; the optimizer of length 2
  // follows.
  const Step norm{.kind = plan::TrafficKind::gradient_norm,
                  .op = plan::Op::all_reduce,
                  .group = mesh::GroupKind::world,
                  .bytes = {4}};
  const Step adam{.part = Part::optimizer};
  const Step beside{
      .kind = plan::TrafficKind::dp_all_reduce, .group = mesh::GroupKind::dp_cp, .beside = true};
  pipeline::Sequences ranks = pipeline::cells({pipeline::Schedule::one_f_one_b, 2, 1, 2});
  for (i64 r = 0; r < 2; ++r) {
    const i64 first = r == 1 ? 0 : 1;
    for (i64 i = first; i < 3; ++i)
      ranks[std::size_t(r)].push_back(action(pipeline::ActionKind::step, 0, i));
  }
  Program program = add_transfers(ranks, 2, 2);
  program.steps = {{beside, norm, adam}, {beside, norm, adam}};
  Durations times = make_equal_durations(program, kUnit, kUnit, kUnit);
  times.steps = {{{5}, {1}, {2}}, {{5}, {1}, {2}}};
  const Timeline timeline = simulate(program, times);
  EXPECT_EQ(timeline.starts[0][4], Seconds{12});  // 7 + 5, later than its own 9
  EXPECT_EQ(timeline.end, Seconds{12 + 1 + 2});
}

}  // namespace simulate_test
}  // namespace rankwright::program
