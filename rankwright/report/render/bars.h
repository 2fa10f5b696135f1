// Bars of a chart on a terminal: one line each, with a name, figures and a remark. Eighths of a
// block where there is colour, '#' elsewhere. What the bars say is decided by the caller.
#pragma once

#include <string>
#include <vector>

#include "rankwright/report/render/paint.h"

namespace rankwright::report {

struct BarLine {
  enum class Tone : unsigned char { work, wait, total };
  std::string name;
  double fraction = 0;                 // of the longest bar that there may be
  std::vector<std::string> figures{};  // as many on every line
  std::string remark{};
  Tone tone = Tone::work;
};

/// Not longer than `columns`; what is more than nothing is seen.
std::string bar(double fraction, std::size_t columns, const Paint& paint);

/// How much more or less: a bar of at most `columns` to the right or to the left of a line in the
/// middle, in colour yellow and green. As wide as the line and what is left of it at least.
std::string difference_bar(double fraction, std::size_t columns, const Paint& paint);

/// "41.0 %": one digit behind the point, so that shares stand below each other; "<0.1 %".
std::string share_text(double share);

/// Names, bars, figures and remarks in columns. Remarks that do not fit in `width` go on below.
std::string bars_text(const std::vector<BarLine>& lines, const Paint& paint, std::size_t width);

}  // namespace rankwright::report
