// Values as a person types them in YAML: text in quotes where it needs them, quantities with the
// unit that makes them shortest. What is written here is read back to the last bit; figures for
// people, rounded, are base/format.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::exporter {

/// One line, whatever the text holds; what is no UTF-8 becomes U+FFFD.
std::string typed_text(std::string_view text);

std::string typed(bool);            // true
std::string typed(double);          // 2.5
std::string typed(Bytes);           // 80 GB, 79.6 GiB
std::string typed(BytesPerSecond);  // 450 GB/s
std::string typed(Seconds);         // 1.2 us
std::string typed(FlopsPerSecond);  // 989 TFLOP/s

/// "[0, 1, 2]", broken into lines that begin under the first number; `column` is where the list
/// begins.
std::string typed(std::span<const i64> numbers, std::size_t column);

}  // namespace rankwright::exporter
