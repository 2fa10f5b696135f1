#include "rankwright/report/render/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "rankwright/base/utf8.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/time_ticks.h"

namespace rankwright::report {
namespace {

/// The font size of a CSS class, in pixels.
struct Font {
  char letter;
  double size;
};
constexpr Font kFonts[] = {{'h', 16}, {'s', 11}, {'x', 9}};
constexpr double kUsual = 13;
constexpr double kBold = 1.13;  // factor by which bold text is wider
constexpr double kTitleLine = 22;

/// Characters by width, in units of the font size, as in DejaVu Sans, which is wider than
/// Helvetica, Segoe UI and Roboto. Other ASCII characters are as wide as a digit, non-ASCII
/// characters a full font size.
struct Widths {
  std::string_view characters;
  double width;
};
constexpr Widths kWidths[] = {
    {"'IJijl", 0.30},          {" ,-./:;\\f|", 0.36}, {"!()[]rt", 0.41}, {"\"*_`?csz", 0.54},
    {"ABCDGHNOQRUVXZ&", 0.79}, {"#+<=>^~w", 0.84},    {"%@MWm", 1.00},
};
constexpr double kDigit = 0.64, kOther = 1.0, kDotWidth = 0.36;

bool has_class(std::string_view classes, char letter) {
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i] == letter && (i == 0 || classes[i - 1] == ' ') &&
        (i + 1 == classes.size() || classes[i + 1] == ' '))
      return true;
  return false;
}

double find_font_size(std::string_view classes) {
  /// Returns the font size in pixels.
  for (const Font& font : kFonts)
    if (has_class(classes, font.letter)) return font.size;
  return kUsual;
}

double find_width(char32_t character) {
  if (character == U'·') return kDotWidth;
  if (character > 0x7E) return kOther;
  for (const Widths& row : kWidths)
    if (row.characters.find(char(character)) != std::string_view::npos) return row.width;
  return kDigit;
}

/// Returns the factor from character widths to pixels.
double compute_scale(std::string_view classes) {
  const bool bold = has_class(classes, 'n') || has_class(classes, 'h');
  return find_font_size(classes) * (bold ? kBold : 1);
}

std::string write_style() {
  std::string css =
      "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;"
      "font-size:13px;fill:#1b1f23}\n";
  for (const Font& font : kFonts)
    css += fmt::format(".{}{{font-size:{}px}}", font.letter, font.size);
  css +=
      ".h,.n{font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}"
      ".q{fill:#57606a}.k{fill:#000}.v{fill:#fff}\n"
      ".g{fill:#fff}.b{fill:#808080;fill-opacity:.1}.w{fill:#d55e00;fill-opacity:.1}"
      ".a{stroke:#57606a;stroke-width:1}.t{stroke:#8c959f;stroke-width:1;stroke-opacity:.3}"
      ".l{stroke:#b3261e;stroke-width:2}.p{stroke:#1b1f23;stroke-width:1.5}"
      ".z{stroke:#fff;stroke-width:1}\n";
  return css;
}

constexpr std::string_view kDark =
    "text{fill:#e6edf3}.q{fill:#9da7b1}.k{fill:#000}.v{fill:#fff}.g{fill:#0d1117}"
    ".b{fill-opacity:.2}.w{fill-opacity:.2}.a{stroke:#9da7b1}.t{stroke-opacity:.35}"
    ".l{stroke:#ff7b72}.p{stroke:#e6edf3}.z{stroke:#0d1117}";

}  // namespace

Chart::Chart(const plan::TrainingConfig& config, std::string_view name, std::string_view about)
    : title_(fmt::format("{}: {}", name, format_headline(config))), about_(about) {
  constexpr double kWide = kChartRight - kChartMargin;
  y = 30;
  const auto add = [&](std::string_view words, std::string_view classes, double line) {
    for (const std::string& one : break_text(words, kWide, classes)) {
      body += svg::text(kChartMargin, y, classes, one);
      y += line;
    }
  };
  add(format_headline(config), "h", kTitleLine);
  add(format_degree_tags(config), "q", kChartLine);
  add(about, "", kChartLine);
  y += 4;
}

std::string Chart::text() const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
             "{0} {1}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n",
             svg::px(kChartWidth), svg::px(y), svg::escaped(title_), svg::escaped(about_)) +
         "<style>" + write_style() + css + "\n@media (prefers-color-scheme:dark){" +
         std::string(kDark) + "}</style>\n" + svg::rect(0, 0, kChartWidth, y, "g") + "/>\n" + body +
         "</svg>\n";
}

double measure_text_width(std::string_view words, std::string_view classes) {
  double sum = 0;
  while (!words.empty()) {
    const Character next = decode_character(words);
    sum += next.bytes == 0 ? find_width(U'?') : find_width(next.code);
    words.remove_prefix(std::max<std::size_t>(1, next.bytes));
  }
  return sum * compute_scale(classes);
}

double measure_text_height(std::string_view classes) { return find_font_size(classes); }

std::string fitted(std::string_view words, double width, std::string_view classes) {
  if (measure_text_width(words, classes) <= width) return std::string(words);
  const double room = width - kOther * compute_scale(classes);
  std::size_t kept = 0;
  for (double sum = 0; kept < words.size();) {
    const Character next = decode_character(words.substr(kept));
    sum += (next.bytes == 0 ? find_width(U'?') : find_width(next.code)) * compute_scale(classes);
    if (sum > room) break;
    kept += std::max<std::size_t>(1, next.bytes);
  }
  while (kept > 0 && words[kept - 1] == ' ') --kept;
  return kept == 0 ? std::string() : std::string(words.substr(0, kept)) + "…";
}

std::vector<std::string> break_text(std::string_view words, double width, std::string_view classes,
                                    std::size_t max) {
  constexpr std::string_view kTagSeparator = " · ";
  std::vector<std::string> lines;
  while (!words.empty()) {
    if (lines.size() + 1 == max || measure_text_width(words, classes) <= width) {
      lines.push_back(fitted(words, width, classes));
      break;
    }
    std::size_t end = 0;  // end of the last word that fits
    for (std::size_t at = words.find(' '); at != std::string_view::npos;
         at = words.find(' ', at + 1)) {
      if (measure_text_width(words.substr(0, at), classes) > width) break;
      end = at;
    }
    // Prefer a break between two listed items.
    std::size_t blank = 1;
    if (const std::size_t dot = words.substr(0, end).rfind(kTagSeparator);
        dot != std::string_view::npos)
      end = dot, blank = kTagSeparator.size();
    if (end == 0) end = std::min(words.find(' '), words.size());
    lines.push_back(fitted(words.substr(0, end), width, classes));
    words.remove_prefix(std::min(words.size(), end + blank));
  }
  return lines;
}

void add_legend(Chart& chart, std::span<const LegendKey> keys) {
  constexpr double kSample = 18, kGap = 7, kKeySpacing = 20;
  double x = kChartMargin;
  for (const LegendKey& key : keys) {
    const std::string words = fitted(key.words, kChartRight - kChartMargin - kSample - kGap);
    const double width = kSample + kGap + measure_text_width(words);
    if (x > kChartMargin && x + width > kChartRight) {
      x = kChartMargin;
      chart.y += kChartLine;
    }
    chart.body += (key.path.empty() ? svg::rect(x, chart.y - 11, kSample, 13, key.classes)
                                    : marker(key.path, x + kSample / 2, chart.y - 5, key.classes)) +
                  "/>\n";
    chart.body += svg::text(x + kSample + kGap, chart.y, "q", words);
    x += width + kKeySpacing;
  }
  chart.y += kChartLine;
}

std::string marker(std::string_view path, double x, double y, std::string_view classes) {
  return fmt::format("<path transform=\"translate({} {})\" d=\"{}\" class=\"{}\"", svg::px(x),
                     svg::px(y), path, classes);
}

Rgb pick_chart_color(i64 index) {
  constexpr Rgb kColors[] = {{0x00, 0x72, 0xB2}, {0xE6, 0x9F, 0x00}, {0x00, 0x9E, 0x73},
                             {0x56, 0xB4, 0xE9}, {0xD5, 0x5E, 0x00}, {0xF0, 0xE4, 0x42},
                             {0xCC, 0x79, 0xA7}, {0x90, 0x90, 0x90}};
  constexpr i64 kHues = i64(std::size(kColors));
  static_assert(kChartColors == 3 * kHues);
  struct Mix {
    int with;
    double share;
  };
  constexpr Mix kMixes[] = {{0, 0}, {255, 0.55}, {0, 0.45}};
  const Rgb c = kColors[index % kHues];
  const Mix mix = kMixes[index / kHues % 3];
  const auto mixed = [&](int one) {
    return int(std::lround(one * (1 - mix.share) + mix.with * mix.share));
  };
  return {mixed(c.red), mixed(c.green), mixed(c.blue)};
}

std::string_view choose_text_class(Rgb ground) {
  return choose_text_color(ground) == Rgb{0, 0, 0} ? "k" : "v";
}

double Scale::at(double value) const {
  const auto place = [&](double v) { return log ? std::log10(v) : v; };
  return from + (to - from) * (place(value) - place(low)) / (place(high) - place(low));
}

std::vector<double> ticks(const Scale& scale, i64 max) {
  std::vector<double> all;
  if (scale.log) {
    const double base = scale.base, apart = std::log(scale.high / scale.low) / double(max);
    for (double power = std::pow(base, std::floor(std::log(scale.low) / std::log(base)));
         power <= scale.high; power *= base)
      for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}) {
        const double tick = power * factor;
        const bool inside = factor < base && tick >= scale.low && tick <= scale.high;
        if (inside && (all.empty() || std::log(tick / all.back()) >= apart)) all.push_back(tick);
      }
    return all;
  }
  const std::vector<Seconds> apart = place_ticks(Seconds{scale.high - scale.low}, max);
  if (apart.size() < 2) return {scale.low};
  const double step = apart[1].value;
  // The tolerance absorbs rounding errors at both ends.
  for (double k = std::ceil(scale.low / step - 1e-9); k * step <= scale.high * (1 + 1e-9); ++k)
    all.push_back(k * step);
  return all;
}

}  // namespace rankwright::report
