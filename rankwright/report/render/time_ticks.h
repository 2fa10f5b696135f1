// Round times to write under a time axis.
#pragma once

#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::report {

/// Returns times from 0 to `end`, 1, 2 or 5 of a power of ten apart, at most `max` of them.
std::vector<Seconds> place_ticks(Seconds end, i64 max);

}  // namespace rankwright::report
