// The score of predictions against measured runs, as text and as JSON. validation_svg.h draws it.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/validate.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Writes totals, families, sweeps, constants and excluded rows; `all` adds every row.
std::string render_validation_text(const validate::Validation& validation,
                                   const planner::ValidationSource& source, bool all,
                                   const Paint& paint = {});

/// Writes schema rankwright.validation/1: errors and regrets in percent, times in seconds, memory
/// in bytes.
std::string make_validation_json(const validate::Validation& validation,
                                 const planner::ValidationSource& source);

/// Writes the constants that a fit on all rows found, in a form that can be copied to
/// calibration.csv.
std::string write_fitted_csv(const cluster::Calibration& fitted);

}  // namespace rankwright::report
