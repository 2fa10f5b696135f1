// The parts that all pictures of a report share: a title, text of known width so that nothing
// overlaps, colors for light and dark pages, and scales with ticks. Each picture decides what it
// draws.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/report/render/event_color.h"
#include "rankwright/report/render/svg.h"

namespace rankwright::report {

/// A page of a paper is about 1,000 pixels wide at 150 pixels per inch.
inline constexpr double kChartWidth = 1000, kChartMargin = 24;
inline constexpr double kChartRight = kChartWidth - kChartMargin;
inline constexpr double kChartLine = 18;  // pixels from one line of text to the next

/// One SVG picture, drawn from the top down. `body` and `css` grow while it is drawn.
class Chart {
 public:
  /// Writes the title and the text below it. `name` says what the picture shows; `about` is one
  /// or two sentences that describe it.
  Chart(const plan::TrainingConfig& config, std::string_view name, std::string_view about);

  /// Returns the complete SVG file.
  std::string text() const;

  /// Adds text at `x` with this baseline.
  void write(double x, double baseline, std::string_view classes, std::string_view words) {
    body += svg::text(x, baseline, classes, words);
  }

  double y = 0;  // bottom of what is drawn so far, in pixels
  std::string body{};
  std::string css{};  // in addition to the shared style

 private:
  std::string title_, about_;
};

// CSS classes of text. Sizes: h title, s small, x smallest, otherwise 13 pixels; n bold. Colors: q
// muted, k black and v white for text on a colored fill. Anchors: e end, m middle.

// CSS classes of shapes. Fills: g background, b raised area, w warning area. Lines: a axis, t
// faint, l limit, p text color, z background color.

/// Estimates the width of a line in pixels, for the widest font that browsers fall back to.
double measure_text_width(std::string_view words, std::string_view classes = "");
/// Returns the font size of these classes in pixels.
double measure_text_height(std::string_view classes);

/// Returns the text, cut with an ellipsis if it is wider than `width` pixels.
std::string fitted(std::string_view words, double width, std::string_view classes = "");

/// Breaks text into at most `max` lines of `width` pixels, at a dot between two items where
/// possible, otherwise at a blank. Text that does not fit is cut.
std::vector<std::string> break_text(std::string_view words, double width,
                                    std::string_view classes = "", std::size_t max = 3);

/// Number of distinct chart colors: those of Okabe and Ito, then lighter and darker variants.
/// Adjacent colors also differ in lightness, so that they can be told apart in grayscale.
inline constexpr i64 kChartColors = 24;
/// Returns a color by index, modulo kChartColors.
Rgb pick_chart_color(i64 index);

/// One entry of a legend: a sample with its text. `classes` are those of the sample; `path` is its
/// shape around the origin, a box if empty.
struct LegendKey {
  std::string classes;
  std::string words;
  std::string_view path{};
};
/// Adds the entries side by side, in as many rows as they need.
void add_legend(Chart& chart, std::span<const LegendKey> keys);

/// Returns "k" or "v": the class of text that is readable on this color.
std::string_view choose_text_class(Rgb ground);

/// Returns a shape at a position. The element stays open, as in svg::rect.
std::string marker(std::string_view path, double x, double y, std::string_view classes);

/// A linear or logarithmic mapping of values to pixels.
struct Scale {
  double low = 0, high = 1;
  double from = 0, to = 1;
  bool log = false;
  int base = 10;  // of round numbers on a logarithmic scale; 2 for memory

  double at(double value) const;
};

/// Returns about `max` round values inside the scale: 1, 2 or 5 times a power of ten apart, or on
/// a logarithmic scale at least an equal part of it apart.
std::vector<double> ticks(const Scale& scale, i64 max);

}  // namespace rankwright::report
