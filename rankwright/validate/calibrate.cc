#include "rankwright/validate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/validate/memory_gap.h"

namespace rankwright::validate {
namespace {

constexpr int kHalvings = 40;

Seconds step_at(const plan::TrainingConfig& config, cluster::Calibration c, double pace) {
  c.pace = pace;
  return cost::estimate_closely(config, c).time();
}

/// Finds the factor on computation rates that predicts the measured step (V12). The step time does
/// not increase with the factor; among equally good factors, returns the one nearest to 1.
std::optional<double> find_pace(const plan::TrainingConfig& config, const cluster::Calibration& c,
                                Seconds measured) {
  constexpr double kSame = 1e-9;
  const auto off = [&](double pace) { return step_at(config, c, pace) / measured - 1; };
  if (std::abs(off(1)) <= kSame) return 1;
  const bool slower = off(1) < 0;
  double near = 1, far = slower ? kMinPace : kMaxPace;
  if (slower ? off(far) < -kSame : off(far) > kSame) return std::nullopt;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (near + far) / 2;
    ((off(middle) < 0) == slower ? near : far) = middle;
  }
  return far;
}

Diagnostic too_far(const plan::TrainingConfig& config, const cluster::Calibration& c,
                   Seconds measured, std::string_view file) {
  return {
      .code = "RW0931",
      .message = "the run is too far from the estimate to calibrate with",
      .detail = fmt::format("{} per step measured, {} predicted; scaling the compute rates by {} "
                            "to {} gives {} to {}",
                            show(measured), show(step_at(config, c, 1)), kMinPace, kMaxPace,
                            show(step_at(config, c, kMinPace)), show(step_at(config, c, kMaxPace))),
      .hint = "rankwright compare PLAN --log LOG lists the likely reasons",
      .where = {.file = std::string(file)}};
}

/// Returns the memory that the run held beyond its estimate, at least 0: less memory in one run
/// does not guarantee less in another plan.
Bytes held(const plan::TrainingConfig& config, const cluster::Calibration& c,
           const importer::RunLog& log) {
  const std::optional<MemoryGap> gap = explain_memory_gap(config, c, log);
  if (!gap) return {};
  const Bytes max = kMaxHeld * config.cluster.device.memory;
  return std::clamp(gap->measured - gap->predicted, Bytes{}, std::max(Bytes{}, max));
}

}  // namespace

Result<plan::RunCalibration> calibrate(const plan::TrainingConfig& ran,
                                       const cluster::Calibration& from,
                                       const importer::RunLog& log, std::string_view file) {
  const double tokens = double(ran.job.global_batch) * double(ran.job.sequence) / double(ran.world);
  const std::optional<importer::MeasuredStep> measured = measure_step(log, tokens);
  if (!measured)
    return fail({.code = "RW0930",
                 .message = "no training step in the log",
                 .detail = "it ran out of memory before the first step was done",
                 .where = {.file = std::string(file)}});
  const std::optional<double> pace = find_pace(ran, from, measured->median);
  if (!pace) return fail(too_far(ran, from, measured->median, file));
  plan::RunCalibration out{.calibration = from,
                           .log = std::string(file),
                           .steps = measured->steps,
                           .measured = measured->median,
                           .predicted = step_at(ran, from, 1),
                           .model = ran.model,
                           .device = ran.cluster.device};
  out.calibration.pace = *pace;
  out.calibration.held = held(ran, from, log);
  return out;
}

}  // namespace rankwright::validate
