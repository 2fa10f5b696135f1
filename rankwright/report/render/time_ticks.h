// Round times for the ticks of a time axis.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::report {

/// Returns at most `max` times from 0 to `end`, spaced by 1, 2 or 5 times a power of ten.
std::vector<Seconds> place_ticks(Seconds end, i64 max);

}  // namespace rankwright::report
