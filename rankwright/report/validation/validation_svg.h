// Predicted against measured step times, drawn: both axes logarithmic, a colour and a shape a
// family, filled for dense models and hollow for MoE, with the diagonal and bands around it.
#pragma once

#include <string>

#include "rankwright/validate/score.h"

namespace rankwright::report {

/// Light or dark, as the viewer's page is.
std::string validation_svg(const validate::Validation& validation);

}  // namespace rankwright::report
