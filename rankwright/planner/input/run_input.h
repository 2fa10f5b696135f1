// The log of a run as requests give it: the constants that it calibrates, and the plan that ran as
// far as the log states it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/run_calibration.h"
#include "rankwright/validate/calibrate.h"

namespace rankwright::planner {

/// Returns the shipped constants as the run moves them. Requires: `ran` has no violation.
Result<std::shared_ptr<const plan::RunCalibration>> read_calibration(
    const std::string& text, const std::string& name, const plan::TrainingConfig& ran);

/// Makes `config` use the constants of the run, and notes that among its assumptions. Without a run
/// it changes nothing.
void calibrate_by(plan::TrainingConfig& config, std::shared_ptr<const plan::RunCalibration> run);

/// Returns "calibrated by 17 lines of run.log: computation at 0.93 of its usual rates"; empty where
/// no run calibrates the config.
std::string describe_calibration(const plan::TrainingConfig& config);

/// Reads the plan from the arguments that a Megatron log begins with. Returns nothing where there
/// are none, or they have errors.
std::optional<importer::PlanFile> plan_of_log(const std::string& text, const std::string& name);

/// Returns the part of a Megatron log that states its arguments; empty where there is none.
std::string_view arguments_of(std::string_view log);

}  // namespace rankwright::planner
