#include "rankwright/cost/durations.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/layer_time.h"
#include "rankwright/cost/step.h"
#include "rankwright/program/body.h"
#include "rankwright/program/expand.h"
#include "tests/timed.h"

namespace rankwright {
namespace durations_test {

TEST(Durations, MatchTheWorkedExample) {
  // 8 layers on 2 pp ranks, 4 on each, the head on the last; sends are not hidden, so each cell
  // has one of 2,048 x 1,024 x 2 bytes, and all is longer by what nobody tuned.
  const rankwright::Setup setup = sample::timed(sample::dense_setup({.pp = 2}));
  const Calibration& c = calibration();
  const Links links(setup, c);
  const Rates reached = rates(setup, c);
  const LayerTime layer =
      layer_time(setup, sample::dense_layer(), reached, links, block_time(setup, links, c), c);
  const EdgeTime head = head_time(setup, reached, links, block_time(setup, links, c), c);
  const Seconds sent = links.time(Op::send_recv, Bytes{2048.0 * 1024 * 2}, GroupKind::pp);
  const Durations times = durations(setup, expand(setup), c);
  const auto near = [&](Seconds a, Seconds b) {
    EXPECT_NEAR(a / (c[Constant::untuned] * b), 1, 1e-12);
  };
  ASSERT_EQ(times.cells.size(), 2u);
  near(times.cells[1][0], 4 * layer.forward.total() + head.forward.total() + sent);
  near(times.cells[1][2], 4 * layer.input.total() + head.input.total() + sent);
  near(times.cells[1][3], 4 * layer.weight.total() + head.weight.total());
  near(times.cells[0][2], 4 * layer.input.total() + sent);
  EXPECT_EQ(times.activation[0], Seconds{});
}

TEST(Durations, OfSendsThatAreHiddenTravel) {
  rankwright::Setup setup = sample::timed(sample::dense_setup({.pp = 2}));
  const Seconds shown = durations(setup, expand(setup), calibration()).cells[0][0];
  setup.plan.overlap.pp = true;
  const Durations hidden = durations(setup, expand(setup), calibration());
  EXPECT_GT(hidden.activation[0], Seconds{});
  EXPECT_NEAR((hidden.cells[0][0] + hidden.activation[0]) / shown, 1, 1e-12);
}

RC_GTEST_PROP(Durations, OfABackwardAreThoseOfItsHalves, ()) {
  const rankwright::Setup setup = sample::random_timed();
  const Program program = expand(setup);
  const Durations times = durations(setup, program, calibration());
  RC_ASSERT(i64(times.cells.size()) == program.stages);
  for (const std::array<Seconds, 4>& stage : times.cells) {
    const Seconds halves = stage[2] + stage[3];
    RC_ASSERT(std::abs((stage[1] - halves).value) <= 1e-9 * halves.value);
  }
}

RC_GTEST_PROP(Durations, LetEveryPlanBePlayed, ()) {
  const rankwright::Setup setup = sample::random_timed();
  const Program program = expand(setup);
  const Timeline timeline = play(program, durations(setup, program, calibration()));
  RC_ASSERT(std::isfinite(timeline.end.value));
  for (const Seconds& busy : timeline.busy) RC_ASSERT(busy <= timeline.end);
}

/// What step_time says of the pipeline: its items without data parallelism and the optimizer, which
/// come behind. Jitter lengthens all alike.
Seconds pipeline_part(const rankwright::Setup& setup) {
  const StepTime step = step_time(setup, calibration());
  const Seconds without_jitter = step.total() - step[Item::jitter];
  const double jitter = step.total() / without_jitter;
  return jitter * (without_jitter - step[Item::dp] - step[Item::optimizer]);
}

/// The end of the cells alone.
Seconds played(const rankwright::Setup& setup) {
  const Program program = expand(setup);
  Durations times = durations(setup, program, calibration());
  for (std::vector<Seconds>& of_rank : times.steps)
    std::fill(of_rank.begin(), of_rank.end(), Seconds{});
  return play(program, times).end;
}

TEST(Durations, PlayToTheStepsPipelineUnderEverySchedule) {
  for (const ScheduleRow& schedule : schedules())
    for (const i64 pp : {2, 4, 8}) {
      const i64 chunks = schedule.min_chunks;
      const rankwright::Setup setup = sample::timed(sample::setup_of(
          sample::model_of({{32, sample::dense_layer()}}),
          {.tp = 2, .pp = pp, .virtual_stages = chunks, .schedule = schedule.schedule}, 4 * pp));
      ASSERT_FALSE(first_misfit(setup)) << schedule.name << " on " << pp;
      EXPECT_NEAR(played(setup) / pipeline_part(setup), 1, 0.03) << schedule.name << " on " << pp;
    }
}

/// Exactly that of the closed forms, PT1 to PT7, on the same times; pipeline_test holds those to
/// the play: for odd numbers of microbatches and uneven stages one in a hundred is off by more than
/// 2 %.
RC_GTEST_PROP(Durations, AreThoseThatTheStepIsMadeOf, ()) {
  const rankwright::Setup setup = sample::random_timed();
  const CellTimes cells = cell_times(setup, calibration());
  const Seconds closed = pipeline_time(pipeline_shape(setup), cells.stages, cells.hop);
  // Under ZeRO-3 cells also wait for gathers and scatters, which the step books apart.
  const double ratio = pipeline_part(setup) / closed;
  RC_ASSERT(ratio <= 1 + 1e-9);
  RC_ASSERT(ratio >= 1 - 1e-9 || setup.plan.zero == 3);
  RC_ASSERT(std::abs(played(setup) / closed - 1) < 0.2);
}

}  // namespace durations_test
}  // namespace rankwright
