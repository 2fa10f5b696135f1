#include "rankwright/pipeline/pipeline_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

#include "rankwright/pipeline/bubble.h"
#include "rankwright/program/simulate.h"
#include "tests/support/pipelines.h"

namespace rankwright::pipeline {
namespace pipeline_time_test {

using pipelines::valid_shape;

/// A pipeline with the times of its stages.
struct Timed {
  PipelineShape shape{};
  std::vector<StageTimes> stages{};
  Seconds hop{};

  Seconds closed() const { return estimate_pipeline_time(shape, stages, hop); }
  Seconds simulated() const {
    const program::Program program = pipelines::program_of(shape);
    program::Durations times = make_equal_durations(program, {}, {}, {});
    for (std::size_t k = 0; k < stages.size(); ++k) {
      const StageTimes& t = stages[k];
      times.cells[k] = {t.forward, t.input + t.weight, t.input, t.weight};
    }
    for (Seconds& t : times.activation) t = hop;
    for (Seconds& t : times.gradient) t = hop;
    return simulate(program, times).end;
  }
};

Timed alike_stages(const PipelineShape& shape, StageTimes each, Seconds hop = {}) {
  return {shape, std::vector<StageTimes>(std::size_t(shape.stages()), each), hop};
}

/// Returns the work of the busiest rank in the whole step.
Seconds busiest(const Timed& t) {
  std::vector<Seconds> work(std::size_t(t.shape.pp));
  for (i64 r = 0; r < t.shape.pp; ++r)
    for (i64 k = 0; k < t.shape.stages(); ++k) {
      const StageTimes& s = t.stages[std::size_t(k)];
      work[std::size_t(r)] +=
          double(find_microbatches(t.shape, r, k).count) * (s.forward + s.input + s.weight);
    }
  return *std::max_element(work.begin(), work.end());
}

TEST(PipelineTime, OneStageTakesItsWork) {
  // 7 x (1 + 2 + 3) for every schedule; nothing is sent.
  ASSERT_EQ(schedules().size(), kSchedules);
  for (const ScheduleRow& s : schedules())
    EXPECT_EQ(alike_stages({s.schedule, 1, 1, 7}, {{1}, {2}, {3}}, {5}).closed(), Seconds{42});
}

TEST(PipelineTime, ChunksOnOneRankTakeTheirWork) {
  // 8 x 2 chunks x (1 + 2 + 3): with a single rank, nothing is sent or waited for.
  int chunked = 0;
  for (const ScheduleRow& s : schedules()) {
    if (s.max_chunks < 2) continue;
    ++chunked;
    const Timed t = alike_stages({s.schedule, 1, 2, 8}, {{1}, {2}, {3}}, {5});
    EXPECT_EQ(t.closed(), Seconds{96}) << s.name;
  }
  EXPECT_GT(chunked, 0);
}

TEST(PipelineTime, GPipeMatchesTheWorkedExample) {
  // PT2. Stages F 2, B 5 and F 3, B 4, three microbatches, sends of 1. Forward: 2 + 1 + 3 plus two
  // more times the longer, 3: 12. Backward: 4 + 1 + 5 plus two more times 5: 20.
  const Timed t{{Schedule::gpipe, 2, 1, 3}, {{{2}, {4}, {1}}, {{3}, {3}, {1}}}, {1}};
  EXPECT_EQ(t.closed(), Seconds{32});
  EXPECT_EQ(t.simulated(), Seconds{32});
}

TEST(PipelineTime, OneFOneBMatchesTheWorkedExample) {
  // PT3. Two ranks of F 1, B 2, two microbatches, sends of 1. Rank 1 starts at 2, its backward ends
  // at 5, rank 0's at 8 (6 + 2). Rank 1's second microbatch runs from 5 to 8, its gradient arrives
  // at 9: 11.
  const Timed t = alike_stages({Schedule::one_f_one_b, 2, 1, 2}, {{1}, {1}, {1}}, {1});
  EXPECT_EQ(t.closed(), Seconds{11});
  EXPECT_EQ(t.simulated(), Seconds{11});
}

TEST(PipelineTime, OneFOneBPaysSendsEveryRound) {
  // PT7. Equal ranks, pp 4, F 1, B 2, sends of 0.1: in every round a gradient goes up and an
  // activation goes down, (4 x 3 + 2 x 3 x 0.1) / 4 = 3.15 per microbatch.
  const StageTimes each{{1}, {1}, {1}};
  const Seconds hop{0.1};
  const Seconds less = alike_stages({Schedule::one_f_one_b, 4, 1, 400}, each, hop).closed();
  const Seconds more = alike_stages({Schedule::one_f_one_b, 4, 1, 800}, each, hop).closed();
  EXPECT_NEAR((more - less).value, 400 * 3.15, 1e-9);
}

TEST(PipelineTime, UnevenStagesFollowTheSlowest) {
  // 1F1B, rank 1 of three takes 6, the others 3: fill 1, 16 x 6, and B of rank 0, 2: 99.
  const StageTimes each{{1}, {1}, {1}}, slow{{2}, {2}, {2}};
  const Timed t{{Schedule::one_f_one_b, 3, 1, 16}, {each, slow, each}, {}};
  EXPECT_EQ(t.simulated(), t.closed());
  EXPECT_GE(t.closed(), Seconds{1 + 16 * 6 + 2});
}

RC_GTEST_PROP(PipelineTime, EqualStagesMatchTheBubbleFormulas, ()) {
  // B1 to B5 hold from two microbatches per pp rank on, in whole groups.
  PipelineShape shape = valid_shape();
  shape.group = 0;
  shape.microbatches = shape.pp * *rc::gen::inRange<i64>(2, 12);
  const double work = 3 * double(shape.chunks * shape.microbatches);
  const double ratio = bubble_ratio(shape.schedule, shape.pp, shape.chunks, shape.microbatches);
  const Seconds time = alike_stages(shape, {{1}, {1}, {1}}).closed();
  RC_ASSERT(std::abs(time.value - work * (1 + ratio)) < 1e-9 * work);
}

/// Returns a random pipeline with random times.
Timed any_timed() {
  Timed t{.shape = valid_shape()};
  const auto some = [] { return Seconds{double(*rc::gen::inRange(1, 20))}; };
  for (i64 k = 0; k < t.shape.stages(); ++k) t.stages.push_back({some(), some(), some()});
  t.hop = Seconds{double(*rc::gen::inRange(0, 10))};
  return t;
}

/// Returns whether the step was not cut, so that no microbatch was added at a rate (PT7).
bool followed_in_full(const PipelineShape& s) {
  const bool rated = s.schedule == Schedule::one_f_one_b || s.schedule == Schedule::interleaved ||
                     s.schedule == Schedule::interleaved_zb;
  return !rated || s.microbatches <= 4 * s.pp;
}

RC_GTEST_PROP(PipelineTime, IsAtLeastTheBusiestRanksWork, ()) {
  const Timed t = any_timed();
  RC_ASSERT(t.closed().value >= busiest(t).value * (1 - 1e-12));
}

TEST(PipelineTime, DualPipePaysTheSendInTheMiddle) {
  // 2 pp ranks, 2 microbatches from each end, sends of 100 s: the activation there and the gradient
  // back take 200 s, plus the cells on that path, 1 + 1 + 1 + 1 s.
  const Timed t = alike_stages({Schedule::dualpipe, 2, 1, 4}, {{1}, {1}, {1}}, Seconds{100});
  EXPECT_GE(t.closed().value, 204);
  EXPECT_LE(t.closed().value, t.simulated().value);
}

RC_GTEST_PROP(PipelineTime, IsAtLeastThePathOfOneMicrobatch, ()) {
  // Forward through all stages and back, with a send between any two on different pp ranks. Sends
  // are long relative to the cells, so that they matter.
  Timed t = any_timed();
  t.hop = Seconds{1000.0};
  Seconds way{};
  for (std::size_t k = 0; k < t.stages.size(); ++k) {
    way += t.stages[k].forward + t.stages[k].input;
    const bool sent =
        k > 0 && find_pp_rank(t.shape, i64(k), 0) != find_pp_rank(t.shape, i64(k) - 1, 0);
    if (sent) way += 2 * t.hop;
  }
  RC_ASSERT(t.closed().value >= way.value * (1 - 1e-12));
}

RC_GTEST_PROP(PipelineTime, IsAtMostTheSimulation, ()) {
  // PT1: its paths are a subset of the simulation's.
  const Timed t = any_timed();
  RC_PRE(followed_in_full(t.shape));
  RC_ASSERT(t.closed().value <= t.simulated().value * (1 + 1e-12));
}

RC_GTEST_PROP(PipelineTime, GPipeAndLoopedBfsEqualTheSimulation, ()) {  // PT2, however uneven
  Timed t = any_timed();
  t.shape.schedule = t.shape.chunks == 1 ? Schedule::gpipe : Schedule::looped_bfs;
  RC_PRE(!find_shape_fault(t.shape));
  RC_ASSERT(std::abs(t.closed() / t.simulated() - 1) < 1e-12);
}

RC_GTEST_PROP(PipelineTime, NeverDecreasesWithALongerStage, ()) {
  Timed t = any_timed();
  RC_PRE(followed_in_full(t.shape));
  const Seconds before = t.closed();
  StageTimes& stage = t.stages[*rc::gen::inRange<std::size_t>(0, t.stages.size())];
  Seconds* const times[] = {&stage.forward, &stage.input, &stage.weight, &t.hop};
  *times[*rc::gen::inRange(0, 4)] += Seconds{1};
  RC_ASSERT(t.closed().value >= before.value * (1 - 1e-12));
}

RC_GTEST_PROP(MinPipelineTime, IsAtMostTheSimulation, ()) {  // PT8
  const Timed t = any_timed();
  const Seconds min = min_pipeline_time(t.shape, t.stages, t.hop);
  RC_ASSERT(min <= (1 + 1e-12) * t.simulated());
  RC_ASSERT(min <= t.closed());
}

TEST(MinPipelineTime, EqualsOneFOneBWithEqualStages) {
  // Four ranks of F 1, B 2, 8 microbatches: rank 3 waits 3 and works 24, then three more backwards
  // of the other ranks take 6: 33.
  const Timed t = alike_stages({Schedule::one_f_one_b, 4, 1, 8}, {{1}, {1}, {1}}, {});
  EXPECT_EQ(min_pipeline_time(t.shape, t.stages, t.hop), Seconds{33});
  EXPECT_EQ(t.simulated(), Seconds{33});
}

TEST(PipelineTime, HandlesEmptyStagesAndHugeSteps) {
  ASSERT_EQ(schedules().size(), kSchedules);
  for (const ScheduleRow& s : schedules()) {
    const i64 chunks = s.min_chunks;
    EXPECT_EQ(alike_stages({s.schedule, 4, chunks, 16}, {}).closed(), Seconds{}) << s.name;
    // 2^40 microbatches: the work of a rank; the bubble is negligible.
    const PipelineShape huge{s.schedule, 4, chunks, i64{1} << 40};
    const double work = 3 * double(chunks) * double(huge.microbatches);
    EXPECT_NEAR(alike_stages(huge, {{1}, {1}, {1}}).closed().value / work, 1, 1e-9) << s.name;
  }
}

/// Generates typical plans of a search, deterministically.
class Plans {
 public:
  Timed next() {
    const ScheduleRow& s = schedules()[std::size_t(whole(0, i64(kSchedules) - 1))];
    Timed t{.shape = {.schedule = s.schedule}};
    do {
      t.shape.pp = whole(1, 25) == 1 ? 32 : whole(2, 16);
      t.shape.chunks = std::clamp<i64>(whole(1, 4), s.min_chunks, s.max_chunks);
      t.shape.microbatches = whole(t.shape.pp, 8 * t.shape.pp);
    } while (find_shape_fault(t.shape));
    const double input = whole(0, 1) == 0 ? real(0.9, 1.4) : real(1.9, 2.4);  // with recompute
    const double weight = real(0.8, 1.1);
    double sum = 0;
    for (const double f : factors(t.shape)) {
      t.stages.push_back({{f}, {f * input}, {f * weight}});
      sum += f;
    }
    t.hop = Seconds{real(0, 0.1) * sum / double(t.shape.stages())};
    return t;
  }

 private:
  // Distributions differ between implementations of the standard library.
  double real(double from, double to) {
    return from + (to - from) * double(random_() >> 11) * 0x1p-53;
  }
  i64 whole(i64 from, i64 to) { return from + i64(random_() % std::uint64_t(to - from + 1)); }

  /// Returns factors on the stages' work: all different, different ends, remainder layers, or
  /// equal.
  std::vector<double> factors(const PipelineShape& shape) {
    const std::size_t n = std::size_t(shape.stages());
    std::vector<double> out(n, 1);
    const i64 kind = whole(0, 4);
    if (kind <= 1) {
      const double min = kind == 0 ? 0.7 : 1;
      for (double& f : out) f = real(min, min + 0.3);
    } else if (kind == 2) {
      out.front() = real(0.7, 1.3);
      out.back() = real(0.7, 1.3);
    } else if (kind == 3) {
      // One layer more than 4 to 8 on the first or the last stages, often on whole chunks.
      const double more = 1 + 1 / double(whole(4, 8));
      const i64 left = whole(0, 2) == 0 ? shape.pp * whole(1, shape.chunks) : whole(1, i64(n));
      const bool first = whole(0, 1) == 0;
      for (i64 k = 0; k < left; ++k) out[first ? std::size_t(k) : n - 1 - std::size_t(k)] = more;
    }
    return out;
  }

  std::mt19937_64 random_{2024};
};

TEST(PipelineTime, IsWithinTwoPercentOfTheSimulation) {
  struct Score {
    i64 plans = 0, close = 0;
    double worst = 0;
    std::string where{};

    void add(double difference, const std::string& plan) {
      ++plans;
      close += std::abs(difference) <= 0.02 ? 1 : 0;
      if (std::abs(difference) < std::abs(worst)) return;
      worst = difference;
      where = plan;
    }
    double share() const { return double(close) / double(plans); }
  };
  std::array<Score, kSchedules> scores{};
  Score all;
  Plans plans;
  for (int k = 0; k < 1000; ++k) {
    const Timed t = plans.next();
    const double difference = t.closed() / t.simulated() - 1;
    all.add(difference, pipelines::show(t.shape));
    scores[std::size_t(t.shape.schedule)].add(difference, pipelines::show(t.shape));
  }
  for (const Score& s : scores) {
    std::cout << s.close << " of " << s.plans << " within 2 %, largest difference " << 100 * s.worst
              << " %: " << s.where << '\n';
    EXPECT_GE(s.share(), 0.97) << s.where;
  }
  std::cout << all.close << " of all " << all.plans << ", largest difference " << 100 * all.worst
            << " %: " << all.where << '\n';
  EXPECT_GE(all.share(), 0.99);
}

}  // namespace pipeline_time_test
}  // namespace rankwright::pipeline
