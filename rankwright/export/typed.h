// Writes values as YAML text: strings quoted where necessary, quantities with the unit that makes
// them shortest. The text reads back to the same value, bit for bit. base/format rounds figures for
// display.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::exporter {

/// Returns `text` as one YAML line, quoted where necessary. Invalid UTF-8 becomes U+FFFD.
std::string write_yaml_text(std::string_view text);

std::string write_yaml_value(bool);            // true
std::string write_yaml_value(double);          // 2.5
std::string write_yaml_value(Bytes);           // 80 GB, 79.6 GiB
std::string write_yaml_value(BytesPerSecond);  // 450 GB/s
std::string write_yaml_value(Seconds);         // 1.2 us
std::string write_yaml_value(FlopsPerSecond);  // 989 TFLOP/s

/// Returns "[0, 1, 2]" with line breaks; continuation lines align with the first number. `column`
/// is the column of the opening bracket.
std::string write_yaml_value(std::span<const i64> numbers, std::size_t column);

}  // namespace rankwright::exporter
