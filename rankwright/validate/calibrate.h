// Calibrates the cost model with one measured run of the user: one factor on all computation rates
// that makes the predicted step time equal the measured one, and the memory that the run held
// beyond its estimate (formula V12). Other plans of the same model on the same devices are then
// predicted with these. An implausible factor is refused; gap.h looks for its cause.
#pragma once

#include "rankwright/base/result.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/run_calibration.h"

namespace rankwright::validate {

/// The accepted range of the factor on computation rates.
inline constexpr double kMinPace = 0.4, kMaxPace = 1.3;
/// The maximum memory beyond the estimate, as a fraction of the device's memory.
inline constexpr double kMaxHeld = 0.25;

/// Calibrates the constants `from` with the run `ran` that wrote `log`. Fails with RW0930 if the
/// log has no step, and with RW0931 if the factor is out of range. Requires: `ran` has no
/// constraint violation.
Result<plan::RunCalibration> calibrate(const plan::TrainingConfig& ran,
                                       const cluster::Calibration& from,
                                       const importer::RunLog& log, std::string_view file);

}  // namespace rankwright::validate
