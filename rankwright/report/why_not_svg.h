// A plan among those that might be chosen instead: memory to the right, time upwards, the device's
// limit between what fits and what does not, and a line along the plans that no other beats in
// both.
#pragma once

#include <string>

#include "rankwright/report/report_view.h"

namespace rankwright {

/// Of a plan that others were searched for.
std::string why_not_svg(const PlanReport& report);

}  // namespace rankwright
