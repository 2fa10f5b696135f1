#include "rankwright/report/validation/validation_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/render/svg.h"

namespace rankwright::report {
namespace {

constexpr double kPlotWidth = 980, kLeft = 84, kTop = 66, kSide = 640;
constexpr double kPlotHeight = kTop + kSide + 66;
constexpr double kLegend = kLeft + kSide + 28, kLine = 21;
constexpr double kDotRadius = 3.4;
constexpr std::size_t kMaxFamilies = 24;  // in the legend

// Okabe and Ito, "Color Universal Design", 2008, without black and yellow, which are invisible on
// a dark or a light background. Three shapes make eighteen distinct families; further ones repeat.
constexpr std::string_view kFamilyColors[] = {"#0072b2", "#d55e00", "#009e73",
                                              "#cc79a7", "#e69f00", "#56b4e9"};
constexpr std::size_t kShapes = 3;

constexpr double kBands[] = {0.25, 0.10};  // the wider one first: it is drawn below

/// The scale of both axes.
struct PlotScale {
  double low = 0, high = 1;  // log10 of seconds

  double at(Seconds t) const { return (std::log10(t.value) - low) / (high - low); }
  double x(Seconds t) const { return kLeft + kSide * at(t); }
  double y(Seconds t) const { return kTop + kSide * (1 - at(t)); }
};

bool is_drawn(const validate::ScoredRun& row) {
  return row.timed() && !row.calibrates && row.step.value > 0;
}

PlotScale choose_scale(const validate::Validation& v) {
  double low = INFINITY, high = -INFINITY;
  for (const validate::ScoredRun& row : v.rows) {
    if (!is_drawn(row)) continue;
    for (const Seconds t : {row.step, row.run->measured}) {
      low = std::min(low, std::log10(t.value));
      high = std::max(high, std::log10(t.value));
    }
  }
  if (low > high) return {-1, 1};
  const double room = 0.04 * (high - low) + 0.02;
  return {low - room, high + room};
}

std::vector<std::string> list_families(const validate::Validation& v) {
  std::vector<std::string> names;
  for (const validate::FamilyErrors& f : v.score.families)
    if (names.empty() || names.back() != f.family) names.push_back(f.family);
  return names;
}

std::string write_plot_style() {
  std::string css =
      "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;"
      "font-size:13px;fill:#1b1f23}\n"
      ".h{font-size:17px;font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}"
      ".n{font-weight:600}.q{fill:#57606a}\n"
      ".g{fill:#fff}.b{fill:#808080;fill-opacity:.13}\n"
      ".a{stroke:#8c959f;stroke-width:1}.t{stroke:#8c959f;stroke-width:1;stroke-opacity:.22}"
      ".d{stroke:#57606a;stroke-width:1.2}\n"
      ".o{fill:none;stroke-width:1.5}.f{fill-opacity:.62}\n";
  for (std::size_t i = 0; i < std::size(kFamilyColors); ++i)
    css += fmt::format(".f.c{0}{{fill:{1}}}.o.c{0}{{stroke:{1}}}", i, kFamilyColors[i]);
  css +=
      "\n@media (prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9da7b1}.g{fill:#0d1117}"
      ".b{fill-opacity:.22}.a{stroke:#6e7681}.d{stroke:#9da7b1}.f{fill-opacity:.75}"
      ".f.c0{fill:#3d9bdc}.o.c0{stroke:#3d9bdc}}\n";
  return "<style>" + css + "</style>\n";
}

/// Returns the marker of a family. The element stays open, so that a title can follow.
std::string draw_family_marker(std::size_t family, bool sparse, double x, double y) {
  const std::string classes =
      fmt::format("{} c{}", sparse ? 'o' : 'f', family % std::size(kFamilyColors));
  constexpr double r = kDotRadius;
  switch (family / std::size(kFamilyColors) % kShapes) {
    case 0:
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"", svg::px(x),
                         svg::px(y), svg::px(r), classes);
    case 1:
      return svg::rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r, classes);
    default:
      return fmt::format("<path d=\"M{} {}l{} {}h{}z\" class=\"{}\"", svg::px(x),
                         svg::px(y - 1.25 * r), svg::px(1.25 * r), svg::px(2.2 * r),
                         svg::px(-2.5 * r), classes);
  }
}

/// Returns the name of that element.
std::string_view name_element(std::size_t family) {
  constexpr std::string_view kElements[kShapes] = {"circle", "rect", "path"};
  return kElements[family / std::size(kFamilyColors) % kShapes];
}

/// Draws the area between predicted = measured x (1 - within) and x (1 + within), cut at the
/// frame.
std::string draw_band(const PlotScale& scale, double within) {
  const double unit = kSide / (scale.high - scale.low);
  const double up = unit * std::log10(1 + within), down = -unit * std::log10(1 - within);
  const double right = kLeft + kSide, bottom = kTop + kSide;
  return fmt::format(
      "<path class=\"b\" clip-path=\"url(#frame)\" d=\"M{} {}L{} {}L{} {}L{} {}z\"/>\n",
      svg::px(kLeft), svg::px(bottom - up), svg::px(right), svg::px(kTop - up), svg::px(right),
      svg::px(kTop + down), svg::px(kLeft), svg::px(bottom + down));
}

std::string draw_frame(const PlotScale& scale) {
  const double right = kLeft + kSide, bottom = kTop + kSide;
  std::string out = fmt::format("<clipPath id=\"frame\">{}/></clipPath>\n",
                                svg::rect(kLeft, kTop, kSide, kSide, ""));
  for (const double within : kBands) out += draw_band(scale, within);
  constexpr double kAxisLabel = 62;
  const bool roomy = std::log10(2.0) * kSide / (scale.high - scale.low) >= kAxisLabel;
  const bool many = scale.high - scale.low > 5;  // decades
  for (int decade = int(std::floor(scale.low)); decade <= int(std::ceil(scale.high)); ++decade)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const Seconds t{digit * std::pow(10.0, decade)};
      const double at = std::log10(t.value);
      if (at < scale.low || at > scale.high || (many && digit > 1)) continue;
      out += svg::line(scale.x(t), kTop, scale.x(t), bottom, "t");
      out += svg::line(kLeft, scale.y(t), right, scale.y(t), "t");
      if (digit == 1 || roomy) out += svg::text(scale.x(t), bottom + 20, "m q", show(t));
      out += svg::text(kLeft - 8, scale.y(t) + 4.5, "e q", show(t));
    }
  out += svg::line(kLeft, bottom, right, kTop, "d");
  out += svg::line(kLeft, bottom, right, bottom, "a") + svg::line(kLeft, kTop, kLeft, bottom, "a");
  out += svg::text(kLeft + kSide / 2, bottom + 44, "m", "measured step time");
  return out + fmt::format(
                   "<text x=\"0\" y=\"0\" class=\"m\" transform=\"translate({} {}) rotate(-90)\">"
                   "predicted step time</text>\n",
                   svg::px(22), svg::px(kTop + kSide / 2));
}

std::string draw_points(const validate::Validation& v, const PlotScale& scale,
                        const std::vector<std::string>& families) {
  std::string out;
  // Families with many rows are drawn first, below the others.
  std::vector<std::pair<i64, std::size_t>> order;  // rows, family
  for (std::size_t i = 0; i < families.size(); ++i) {
    i64 rows = 0;
    for (const validate::FamilyErrors& f : v.score.families)
      if (f.family == families[i]) rows += f.errors.rows;
    order.emplace_back(rows, i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [rows, family] : order)
    for (const validate::ScoredRun& row : v.rows) {
      if (!is_drawn(row) || row.run->family != families[family]) continue;
      out += draw_family_marker(family, row.run->sparse, scale.x(row.run->measured),
                                scale.y(row.step));
      out += fmt::format("><title>{}: predicted {}, measured {}, {:+.1f} %</title></{}>\n",
                         svg::escaped(make_excerpt(row.run->id, 80)), show(row.step),
                         show(row.run->measured), 100 * row.error(), name_element(family));
    }
  return out;
}

std::string draw_family_legend(const validate::Validation& v,
                               const std::vector<std::string>& families) {
  double y = kTop + 14;
  std::string out =
      svg::text(kLegend, y, "n", "family") + svg::text(kPlotWidth - 14, y, "e n", "MAPE");
  for (std::size_t i = 0; i < std::min(families.size(), kMaxFamilies); ++i)
    for (const validate::FamilyErrors& f : v.score.families) {
      if (f.family != families[i]) continue;
      y += kLine;
      out += draw_family_marker(i, f.sparse, kLegend + 6, y - 4.5) + "/>\n";
      out += svg::text(kLegend + 20, y, "", make_excerpt(f.errors.name, 18));
      out += svg::text(kPlotWidth - 14, y, "e q",
                       fmt::format("{:.1f} %", 100 * f.errors.mean_absolute));
    }
  if (families.size() > kMaxFamilies)
    out += svg::text(kLegend + 20, y += kLine, "q",
                     fmt::format("and {} more", families.size() - kMaxFamilies));
  y += 1.5 * kLine;
  out += svg::text(kLegend, y, "q", "filled: dense · hollow: MoE");
  for (const double within : {0.10, 0.25}) {
    y += kLine;
    out += svg::rect(kLegend, y - 11, 14, 13, "b") + "/>\n";
    if (within < 0.2) out += svg::rect(kLegend, y - 11, 14, 13, "b") + "/>\n";
    out += svg::text(kLegend + 20, y, "q", fmt::format("within ±{:.0f} %", 100 * within));
  }
  return out;
}

}  // namespace

std::string draw_validation_svg(const validate::Validation& v) {
  const validate::Score& s = v.score;
  const PlotScale scale = choose_scale(v);
  const std::vector<std::string> families = list_families(v);
  const std::string title = fmt::format("{}, predicted and measured",
                                        plural(s.all.rows, "training run", "training runs"));
  std::string heading = v.options.mode == validate::Mode::shipped
                            ? "with the shipped constants"
                            : "each family with constants fitted without it";
  if (v.options.calibrate_one) heading += ", and one of its rows";
  if (s.dense.rows > 0) heading += fmt::format(" · dense {:.1f} %", 100 * s.dense.mean_absolute);
  if (s.sparse.rows > 0) heading += fmt::format(" · MoE {:.1f} %", 100 * s.sparse.mean_absolute);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\">\n<title>{2}</title>\n",
      svg::px(kPlotWidth), svg::px(kPlotHeight), title);
  out += write_plot_style() + svg::rect(0, 0, kPlotWidth, kPlotHeight, "g") + "/>\n";
  out += svg::text(kLeft, 26, "h", title) + svg::text(kLeft, 47, "q", heading);
  return out + draw_frame(scale) + draw_points(v, scale, families) +
         draw_family_legend(v, families) + "</svg>\n";
}

}  // namespace rankwright::report
