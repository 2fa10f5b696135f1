#include "rankwright/validate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/validate/memory_gap.h"

namespace rankwright {
namespace {

constexpr int kHalvings = 60;

Seconds step_at(const Setup& setup, Calibration c, double pace) {
  c.pace = pace;
  return step_time(setup, c).total();
}

Diagnostic too_far(const Setup& setup, const Calibration& c, Seconds measured,
                   std::string_view file) {
  return {.code = "RW0931",
          .message = "a run too far from its estimate to calibrate by",
          .detail = fmt::format(
              "{} a step are measured, {} predicted; computation at {} to {} of its rates gives "
              "{} to {}",
              show(measured), show(step_at(setup, c, 1)), kLeastPace, kMostPace,
              show(step_at(setup, c, kLeastPace)), show(step_at(setup, c, kMostPace))),
          .hint = "rankwright compare PLAN --log LOG says what may be behind it",
          .where = {.file = std::string(file)}};
}

/// What the run held beyond its ledger; less is no promise for another plan.
Bytes held(const Setup& setup, const Calibration& c, const RunLog& log) {
  const std::optional<MemoryGap> gap = memory_gap(setup, c, log);
  if (!gap) return {};
  const Bytes most = kMostHeld * setup.cluster.device.memory;
  return std::clamp(gap->measured - gap->predicted, Bytes{}, std::max(Bytes{}, most));
}

}  // namespace

Result<RunCalibration> calibrate(const Setup& ran, const Calibration& from, const RunLog& log,
                                 std::string_view file) {
  const double tokens = double(ran.job.global_batch) * double(ran.job.sequence) / double(ran.world);
  const std::optional<MeasuredStep> measured = measured_step(log, tokens);
  if (!measured)
    return fail({.code = "RW0930",
                 .message = "a log without a step",
                 .detail = "it ran out of memory before one was done",
                 .where = {.file = std::string(file)}});
  // A step is the shorter the faster computation is.
  if (step_at(ran, from, kLeastPace) < measured->median ||
      step_at(ran, from, kMostPace) > measured->median)
    return fail(too_far(ran, from, measured->median, file));
  double low = kLeastPace, high = kMostPace;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (step_at(ran, from, middle) > measured->median ? low : high) = middle;
  }
  RunCalibration out{.calibration = from,
                     .log = std::string(file),
                     .steps = measured->steps,
                     .measured = measured->median,
                     .predicted = step_at(ran, from, 1),
                     .model = ran.model,
                     .device = ran.cluster.device};
  out.calibration.pace = (low + high) / 2;
  out.calibration.held = held(ran, from, log);
  return out;
}

}  // namespace rankwright
