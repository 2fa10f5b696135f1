#include "rankwright/report/page/step_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/chart.h"

namespace rankwright::report {
namespace {

constexpr double kPitch = 25, kBarHeight = 17;  // distance of rows, and height of a bar
constexpr double kItemNames = 140;              // pixels for names at the left
constexpr double kFigures = 150;                // pixels for time and share at the right
constexpr double kShare = 70;                   // of these, for the share
constexpr double kFigureGap = 7;

/// A group of items with one color, in the order of the legend. The groups that compute are dark,
/// so that they can be told apart in grayscale.
struct ItemGroup {
  std::string_view name;
  std::string_view css;
  bool (*holds)(const planner::Waterfall::Bar& bar);
};

bool is_model_math(const planner::Waterfall::Bar& bar) {
  return bar.item == cost::Item::matmul || bar.item == cost::Item::attention ||
         bar.item == cost::Item::vocabulary;
}

constexpr ItemGroup kItemGroups[] = {
    {"the model's FLOPs", "#1b7fbd", [](const auto& bar) { return is_model_math(bar); }},
    {"other computing", "#4b8fb5",
     [](const auto& bar) { return bar.computes && !is_model_math(bar); }},
    {"exposed communication", "#b25f95",
     [](const auto& bar) { return !bar.computes && !bar.level.empty(); }},
    {"idle", "#808080", [](const auto& bar) { return !bar.computes && bar.level.empty(); }},
};

std::size_t find_group(const planner::Waterfall::Bar& bar) {
  return std::size_t(std::find_if(std::begin(kItemGroups), std::end(kItemGroups),
                                  [&](const ItemGroup& f) { return f.holds(bar); }) -
                     std::begin(kItemGroups));
}

std::string name_bar_class(std::size_t group) { return fmt::format("f{}", group); }

class StepDrawing {
 public:
  explicit StepDrawing(const planner::PlanReport& report)
      : fall_(report.explain_view.waterfall),
        chart_(report.config, "where the time of a step goes", summarize(report)),
        x_{.high = fall_.total.value * (1 + fall_.band.within),
           .from = kChartMargin + kItemNames,
           .to = kChartRight - kFigures} {
    for (std::size_t f = 0; f < std::size(kItemGroups); ++f)
      chart_.css += fmt::format(".{}{{fill:{}}}", name_bar_class(f), kItemGroups[f].css);
  }

  std::string render() {
    draw_axis();
    Seconds begin{};
    for (const planner::Waterfall::Bar& bar : fall_.bars) {
      draw_row(bar, begin);
      begin += bar.time;
    }
    draw_total();
    draw_legend();
    return chart_.text();
  }

 private:
  static std::string summarize(const planner::PlanReport& report) {
    std::string words = figures(report.config, report.explain_view.estimate);
    for (std::size_t at; (at = words.find("   ")) != std::string::npos;)
      words.replace(at, 3, " · ");
    return words;
  }

  double x(Seconds t) const { return x_.at(t.value); }

  void write_figures(double baseline, std::string_view classes, Seconds time,
                     std::string_view share) {
    chart_.write(kChartRight - kShare, baseline, classes, show(time));
    chart_.write(kChartRight, baseline, classes, share);
  }

  void draw_axis() {
    chart_.y += 14;
    chart_.write(kChartRight - kShare, chart_.y, "e q", "time");
    chart_.write(kChartRight, chart_.y, "e q", "share");
    const double top = chart_.y + 10;
    const double bottom = top + kPitch * double(fall_.bars.size() + 1) + 8;
    for (const double tick : ticks(x_, 8)) {
      chart_.write(x_.at(tick), chart_.y, "m q", tick == 0 ? "0" : show(Seconds{tick}));
      chart_.body += svg::line(x_.at(tick), top - 4, x_.at(tick), bottom, "t");
    }
    chart_.y = top;
  }

  /// Writes the level on the side of the bar that has more room, cut to fit.
  void write_level(const planner::Waterfall::Bar& bar, Seconds begin, double baseline) {
    if (bar.level.empty()) return;
    const double left = x(begin) - kFigureGap - x_.from, end = x(begin + bar.time) + kFigureGap;
    const std::string words = "on " + bar.level;
    if (x_.to - end >= left)
      chart_.write(end, baseline, "q s", fitted(words, x_.to - end, "s"));
    else
      chart_.write(x(begin) - kFigureGap, baseline, "e q s", fitted(words, left, "s"));
  }

  void draw_row(const planner::Waterfall::Bar& bar, Seconds begin) {
    const double top = chart_.y + (kPitch - kBarHeight) / 2, baseline = top + kBarHeight - 4;
    const double end = x(begin + bar.time);
    chart_.write(kChartMargin, baseline, "", bar.name);
    chart_.body +=
        svg::rect(x(begin), top, end - x(begin), kBarHeight, name_bar_class(find_group(bar)));
    chart_.body += svg::titled("rect", fmt::format("{}: {}, {}. {}", bar.name, show(bar.time),
                                                   format_share(bar.share), bar.remark));
    // This line leads to the start of the next bar and marks bars that are too short to see.
    chart_.body += svg::line(end, top, end, top + kPitch, "a");
    write_level(bar, begin, baseline);
    write_figures(baseline, "e", bar.time, format_share(bar.share));
    chart_.y += kPitch;
  }

  /// Draws the whole step as one bar, with its error range at the end.
  void draw_total() {
    const double top = chart_.y + (kPitch - kBarHeight) / 2 + 4, middle = top + kBarHeight / 2;
    chart_.body += svg::line(kChartMargin, chart_.y + 2, kChartRight, chart_.y + 2, "t");
    chart_.write(kChartMargin, top + kBarHeight - 4, "n", "step");
    Seconds begin{};
    for (std::size_t f = 0; f < std::size(kItemGroups); ++f) {
      const Seconds time = sum_time(f);
      if (time <= Seconds{}) continue;
      chart_.body += svg::rect(x(begin), top, x(begin + time) - x(begin), kBarHeight,
                               name_bar_class(f) + " sum");
      chart_.body += svg::titled("rect", fmt::format("{}: {}", kItemGroups[f].name, show(time)));
      begin += time;
    }
    const double low = x((1 - fall_.band.within) * fall_.total);
    const double high = x((1 + fall_.band.within) * fall_.total);
    chart_.body += svg::rect(low, middle - 1.5, high - low, 3, "g") + "/>\n";
    chart_.body += svg::line(low, middle, high, middle, "p");
    for (const double end : {low, high})
      chart_.body += svg::line(end, middle - 6, end, middle + 6, "p");
    write_figures(top + kBarHeight - 4, "e n", fall_.total,
                  fmt::format("±{:.0f} %", 100 * fall_.band.within));
    chart_.y += kPitch + 12;
  }

  Seconds sum_time(std::size_t group) const {
    Seconds sum{};
    for (const planner::Waterfall::Bar& bar : fall_.bars)
      if (find_group(bar) == group) sum += bar.time;
    return sum;
  }

  void draw_legend() {
    chart_.y += 14;
    std::vector<LegendKey> keys;
    for (std::size_t f = 0; f < std::size(kItemGroups); ++f)
      if (const Seconds time = sum_time(f); time > Seconds{})
        keys.push_back({name_bar_class(f) + " key", fmt::format("{} · {}", kItemGroups[f].name,
                                                                format_share(time / fall_.total))});
    add_legend(chart_, keys);
    chart_.write(
        kChartMargin, chart_.y, "q",
        fall_.band.rows > 0
            ? fmt::format("The line at the end is the error: {}, within which nine of ten of {} "
                          "published runs are.",
                          format_band(fall_.band), count(fall_.band.rows))
            : fmt::format("The line at the end is the error: {}; nothing was measured on such a "
                          "device.",
                          format_band(fall_.band)));
    chart_.y += kChartLine;
  }

  const planner::Waterfall& fall_;
  Chart chart_;
  Scale x_;
};

}  // namespace

std::string draw_step_svg(const planner::PlanReport& report) {
  return StepDrawing(report).render();
}

}  // namespace rankwright::report
