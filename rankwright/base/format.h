// Formats numbers for people: three significant digits, SI prefixes, commas between thousands,
// "unbounded" for infinity, "undefined" for NaN. quantity.h parses the same text.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright {

std::string count(i64);                                                // 15,360
std::string plural(i64, std::string_view one, std::string_view many);  // "1 node", "8 nodes"
std::string format_short_count(double);     // 70.6 B, 4.19 M: parameters and tokens
std::string show(Bytes);                    // 134 MB, decimal: messages
std::string show_memory(Bytes);             // 79.6 GiB, binary: memory
std::string show_memory(Bytes, Bytes);      // 68.1 of 79.1 GiB: part of a total
std::string show(Seconds);                  // 1.32 ms
std::string show_signed(Seconds);           // +1.32 ms, -40 us
std::string show(BytesPerSecond);           // 50 GB/s
std::string show(Flops);                    // 4.1 PFLOP
std::string show(FlopsPerSecond);           // 989 TFLOP/s
std::string percent(double fraction);       // 41 %
std::string format_exact_percent(double);   // 41.3 %: always one decimal
std::string format_signed_percent(double);  // +4.9 %, -0.3 %

/// Returns `text` with ASCII letters in lower case; independent of the locale.
std::string lower(std::string_view text);

/// Returns at most `max` bytes from the beginning of untrusted text, never cutting inside a
/// character. Characters for which is_unsafe_to_show() holds and bytes that are not UTF-8 become
/// '?'. Safe text that already fits is returned unchanged.
std::string make_excerpt(std::string_view text, std::size_t max = 40);
/// As above for the name of a file, of which the end counts: ".../profile.d/conda.sh".
std::string make_path_excerpt(std::string_view path, std::size_t max = 60);

}  // namespace rankwright
