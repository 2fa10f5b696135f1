// What the pictures of a report have in common: a title, text in a few sizes whose width is known
// well enough that nothing overlaps, colours for light and dark pages, scales with ticks. What is
// drawn is up to each picture.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/report/render/event_color.h"
#include "rankwright/report/render/svg.h"

namespace rankwright::report {

/// A page of a paper is as wide as 1,000 pixels at 150 to the inch.
inline constexpr double kChartWidth = 1000, kChartMargin = 24;
inline constexpr double kChartRight = kChartWidth - kChartMargin;
inline constexpr double kChartLine = 18;  // from one line of text to the next

/// One picture, from the top down. `body` and `css` grow while it is drawn.
class Chart {
 public:
  /// `name` is what it shows; `about` one or two sentences, which stand under the title.
  Chart(const plan::TrainingConfig& config, std::string_view name, std::string_view about);

  /// The whole file.
  std::string text() const;

  /// Words whose baseline is there.
  void write(double x, double baseline, std::string_view classes, std::string_view words) {
    body += svg::text(x, baseline, classes, words);
  }

  double y = 0;  // nothing is drawn below this yet
  std::string body{};
  std::string css{};  // besides what all of them have

 private:
  std::string title_, about_;
};

// Classes of text. Sizes: h a title, s small, x smallest, else 13 pixels; n bold. Colours: q quiet,
// k black and v white on a colour of their own. Where x is: e the end, m the middle.

// Classes of the rest. Fills: g the ground, b a raised part of it, w one that warns.
// Lines: a an axis, t faint, l a limit, p as dark as text, z as the ground.

/// Pixels of a line, in a font as wide as any that browsers fall back to.
double text_width(std::string_view words, std::string_view classes = "");
double text_height(std::string_view classes);

/// The words, or as many of them as there is room for and an ellipsis.
std::string fitted(std::string_view words, double width, std::string_view classes = "");

/// At most `most` lines, broken at a dot between two things or else at a blank; what does not
/// fit is cut.
std::vector<std::string> text_lines(std::string_view words, double width,
                                    std::string_view classes = "", std::size_t max = 3);

/// The colours of Okabe and Ito, neighbours far apart in lightness too, so that they can be told
/// apart in grey; then lighter ones, then darker ones, then the same again.
inline constexpr i64 kChartColors = 24;
Rgb chart_color(i64 index);

/// A sample of a colour with its words, one after another; `classes` are the sample's, `path` its
/// shape around the origin where it is no box.
struct LegendKey {
  std::string classes;
  std::string words;
  std::string_view path{};
};
void add_legend(Chart& chart, std::span<const LegendKey> keys);

/// "k" or "v": what can be read on this colour.
std::string_view text_class_on(Rgb ground);

/// A shape, left open as svg::rect is.
std::string marker(std::string_view path, double x, double y, std::string_view classes);

/// From values to pixels.
struct Scale {
  double low = 0, high = 1;
  double from = 0, to = 1;
  bool log = false;
  int base = 10;  // of round numbers where it is logarithmic: 2 of memory

  double at(double value) const;
};

/// Round values to write beside it, about `most` of them: 1, 2 or 5 of a power of ten apart, or
/// where it is logarithmic at least an equal part of it apart.
std::vector<double> ticks(const Scale& scale, i64 max);

}  // namespace rankwright::report
