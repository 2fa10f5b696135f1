// The score of predictions against measured runs: for people, and for machines. The picture of it
// is validation_svg.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/validate.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// One screen first; `all` adds every row.
std::string validation_text(const validate::Validation& validation,
                            const planner::ValidationSource& source, bool all,
                            const Paint& paint = {});

/// Schema rankwright.validation/1: errors and regrets in percent, times in seconds, memory in
/// bytes.
std::string validation_json(const validate::Validation& validation,
                            const planner::ValidationSource& source);

/// What a fit on all rows found, as a table that calibration.csv can take its values from.
std::string fitted_csv(const cluster::Calibration& fitted);

}  // namespace rankwright::report
