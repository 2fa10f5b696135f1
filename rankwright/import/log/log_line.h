// Parses one line of a training log: strips escape sequences, detects which rank wrote the line,
// and finds numbers after their labels. The meaning of the lines is left to the file of each log
// format.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::importer {

/// One line of a log.
struct LogLine {
  std::string_view text;
  std::optional<i64> rank{};  // from the label of torchrun ("[rank3]:") or of srun --label ("3: ")
  i64 number = 0;             // line number, from 1
};

/// Returns the line without ANSI escape sequences and other control characters; tabs become blanks.
std::string strip_escapes(std::string_view line);

/// Returns the rank from the label at the start of the line, if there is one.
std::optional<i64> parse_rank_label(std::string_view line);

/// Returns the number after the first occurrence of `label`: "57,729", "61674.3", "2.6E+00".
/// Returns nothing if there is none, or if it is not finite, negative or above 10^18.
std::optional<double> find_number_after(std::string_view text, std::string_view label);
/// As find_number_after(), for whole numbers up to kMaxCount.
std::optional<i64> find_count_after(std::string_view text, std::string_view label);

/// Returns the amount of memory after `label`: "5.71GiB", "984.00 MiB", "0 bytes".
std::optional<Bytes> find_memory_after(std::string_view text, std::string_view label);
/// Returns the amount of memory before `label`: "13.45 GiB already allocated".
std::optional<Bytes> find_memory_before(std::string_view text, std::string_view label);

}  // namespace rankwright::importer
