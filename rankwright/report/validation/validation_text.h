// The score of predictions against measured runs: for people, and for machines. The picture of it
// is validation_svg.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/validate.h"
#include "rankwright/report/render/paint.h"

namespace rankwright {

/// One screen first; `all` adds every row.
std::string validation_text(const Validation& validation, const ValidationSource& source, bool all,
                            const Paint& paint = {});

/// Schema rankwright.validation/1: errors and regrets in percent, times in seconds, memory in
/// bytes.
std::string validation_json(const Validation& validation, const ValidationSource& source);

/// What a fit on all rows found, as a table that calibration.csv can take its values from.
std::string fitted_csv(const Calibration& fitted);

}  // namespace rankwright
