// Bar charts for a terminal: one line per bar, with a name, figures and a remark. Bars are drawn
// in eighths of a block on a color terminal and with '#' elsewhere. The caller decides what the
// bars show.
#pragma once

#include <string>
#include <vector>

#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// One line of a bar chart.
struct BarLine {
  enum class Tone : unsigned char { work, wait, total };
  std::string name;
  double fraction = 0;                 // of the longest possible bar
  std::vector<std::string> figures{};  // the same number on every line
  std::string remark{};
  Tone tone = Tone::work;
};

/// Draws a bar of `fraction` times `columns` columns, at most `columns`. A fraction above 0 is
/// always visible.
std::string bar(double fraction, std::size_t columns, const Paint& paint);

/// Draws a signed difference: a bar of at most `columns` columns to the right (more, yellow) or to
/// the left (less, green) of a center line. The result is at least `columns` + 1 columns wide.
std::string draw_difference_bar(double fraction, std::size_t columns, const Paint& paint);

/// Formats a share: "41.0 %", always with one decimal so that shares align; "<0.1 %" for less.
std::string format_share(double share);

/// Lays out names, bars, figures and remarks in columns. A remark that does not fit into `width`
/// continues on the lines below.
std::string draw_bar_lines(const std::vector<BarLine>& lines, const Paint& paint,
                           std::size_t width);

}  // namespace rankwright::report
