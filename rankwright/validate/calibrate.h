// Calibrates the cost model by one measured run of the user's: the one factor on all rates of
// computation with which the plan that ran is predicted to take what it took, and what it held in
// memory beyond its ledger. Other plans of the same model on the same devices are then predicted
// from there. A factor that no device explains is refused: that is no calibration but a fault, and
// gap.h looks for it. Formula V12.
#pragma once

#include "rankwright/base/result.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/run_calibration.h"

namespace rankwright::validate {

/// The factors that may be.
inline constexpr double kMinPace = 0.4, kMaxPace = 1.3;
/// Of the device: the most that a run may hold beyond its ledger.
inline constexpr double kMaxHeld = 0.25;

/// RW0930 where the log has no step, RW0931 where the factor is beyond what may be. `ran` has no
/// violation. Constants are `from`, moved.
Result<plan::RunCalibration> calibrate(const plan::TrainingConfig& ran,
                                       const cluster::Calibration& from,
                                       const importer::RunLog& log, std::string_view file);

}  // namespace rankwright::validate
