// Reads the log of a run: the constants that it calibrates, and the plan that ran, as far as the
// log states it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/run_calibration.h"
#include "rankwright/validate/calibrate.h"

namespace rankwright::planner {

/// Returns the shipped constants, calibrated by the run. Requires: `ran` has no constraint
/// violations.
Result<std::shared_ptr<const plan::RunCalibration>> read_calibration(
    const std::string& text, const std::string& name, const plan::TrainingConfig& ran);

/// Makes `config` use the constants of the run, and adds that to its assumptions. Does nothing if
/// `run` is null.
void calibrate_by(plan::TrainingConfig& config, std::shared_ptr<const plan::RunCalibration> run);

/// Returns "calibrated by 17 lines of run.log: computation at 0.93 of its usual rates"; empty if no
/// run calibrates the config.
std::string describe_calibration(const plan::TrainingConfig& config);

/// Reads the plan from the arguments at the beginning of a Megatron log. Returns nothing if there
/// are none or if they have errors.
std::optional<importer::PlanFile> read_plan_of_log(const std::string& text,
                                                   const std::string& name);

/// Returns the part of a Megatron log that states its arguments; empty if there is none.
std::string_view find_arguments(std::string_view log);

}  // namespace rankwright::planner
