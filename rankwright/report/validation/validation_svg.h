// Draws predicted against measured step times: logarithmic axes, a color and a shape per family,
// filled for dense and hollow for MoE models, with the diagonal and bands around it.
#pragma once

#include <string>

#include "rankwright/validate/score.h"

namespace rankwright::report {

/// Draws the picture, which follows the light or dark theme of the page.
std::string draw_validation_svg(const validate::Validation& validation);

}  // namespace rankwright::report
