// One line of a training log: the text without escape sequences, which rank wrote it where a
// launcher says so, and numbers behind their labels. What the lines of a framework mean is in the
// file of its log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::importer {

struct LogLine {
  std::string_view text;
  std::optional<i64> rank{};  // as torchrun ("[rank3]:") or srun --label ("3: ") say
  i64 number = 0;             // from 1
};

/// Without ANSI escape sequences and other control characters.
std::string without_escapes(std::string_view line);

/// The rank that the line begins with; nothing where it begins with none.
std::optional<i64> rank_label(std::string_view line);

/// The number right behind the first `label`: "57,729", "61674.3", "2.6E+00". Nothing where there
/// is none, or it is not finite, below 0 or beyond 10^18.
std::optional<double> number_after(std::string_view text, std::string_view label);
/// The same, whole.
std::optional<i64> count_after(std::string_view text, std::string_view label);

/// An amount of memory behind `label`: "5.71GiB", "984.00 MiB", "0 bytes".
std::optional<Bytes> memory_after(std::string_view text, std::string_view label);
/// The number that stands before `label` and a blank: "13.45 GiB already allocated".
std::optional<Bytes> memory_before(std::string_view text, std::string_view label);

}  // namespace rankwright::importer
