// Parses quantities with units: "450 GB/s", "2 us", "79.6 GiB". A number without a unit is an error
// where the unit matters. Thousands may be separated ("1,340 GB/s"), so text written by format.h
// parses.
#pragma once

#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"
#include "rankwright/base/units.h"

namespace rankwright {

Result<Bytes> parse_bytes(std::string_view);               // 80 GB, 79.6 GiB
Result<BytesPerSecond> parse_bandwidth(std::string_view);  // 450 GB/s, 400 Gb/s, 400 Gbit/s
Result<Seconds> parse_duration(std::string_view);          // 2 us, 1.5 ms, 3 s
Result<FlopsPerSecond> parse_flops(std::string_view);      // 989 TFLOP/s

/// Parses a count from `min` to kMaxCount; accepts "1,024", "1_024" and "8k", which is 8 x 1,024.
Result<i64> parse_count(std::string_view, i64 min = 1);

/// Parses a number without a unit: 0.25, 1,340, 3e-4.
Result<double> parse_real(std::string_view);

}  // namespace rankwright
