// The log of a run as it is given to verbs: what calibrates prices, and what ran as far as the log
// says so itself.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "rankwright/import/plan_file.h"
#include "rankwright/plan/run_calibration.h"
#include "rankwright/validate/calibrate.h"

namespace rankwright::cli {

/// The shipped constants as the run moves them. `ran` has no misfit.
Result<std::shared_ptr<const RunCalibration>> read_calibration(const std::string& text,
                                                               const std::string& name,
                                                               const Setup& ran);

/// Prices `setup` as the run says, and notes it among what was assumed.
void calibrate_by(Setup& setup, std::shared_ptr<const RunCalibration> run);

/// What the arguments say that a Megatron log begins with; nothing where it has none, or nobody
/// reads them.
std::optional<PlanFile> plan_of_log(const std::string& text, const std::string& name);

}  // namespace rankwright::cli
