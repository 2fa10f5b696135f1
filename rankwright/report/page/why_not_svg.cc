#include "rankwright/report/page/why_not_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/render/chart.h"
#include "rankwright/report/render/label_room.h"

namespace rankwright::report {
namespace {

using PointRole = PlanPoint::Role;

constexpr double kAxis = 64, kEnd = 24;  // pixels for figures at the left and beyond the last point
constexpr double kHeight = 430;
constexpr double kRadius = 7;               // of the largest marker
constexpr double kLongestLabel = 330;       // pixels
constexpr double kBeside = 10, kFar = 260;  // maximum distance of a label from its point
constexpr double kLogarithmic =
    3;  // ratio of the range's ends beyond which the scale is logarithmic

/// How the plans of a role are drawn. Later rows are drawn on top and are labeled first.
struct RoleRow {
  PointRole role;
  std::string_view words;
  std::string_view color;
  std::string_view path;
};
constexpr RoleRow kRoles[] = {
    {PointRole::front, "nothing faster takes less memory", "#808080",
     "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"},
    {PointRole::tie, "within the margin of error of the fastest", "#6b7a8c", "M-4 -4h8v8h-8z"},
    {PointRole::neighbour, "one key changed", "#a87900", "M-5.5 4.5h11l-5.5 -9.5z"},
    {PointRole::safe, "fits with margin", "#0e8aa8", "M-5.5 -4.5h11l-5.5 9.5z"},
    {PointRole::best, "best of the search, and the fastest", "#2e8b3d",
     "M0 -7l2 5h5l-4 3l2 5.5l-5 -3.5l-5 3.5l2 -5.5l-4 -3h5z"},
    {PointRole::itself, "this plan", "#d0407f", "M0 -7l7 7l-7 7l-7 -7z"},
};

std::string name_role_class(std::size_t row) { return fmt::format("r{} z", row); }

/// Returns a scale from `min` to `max` with some room at both ends.
Scale make_scale(double min, double max, double from, double to) {
  if (min > 0 && max / min > kLogarithmic)
    return {.low = min / 1.2, .high = max * 1.2, .from = from, .to = to, .log = true};
  const double room = std::max(0.07 * (max - min), 0.01 * max);
  return {.low = std::max(0.0, min - room), .high = max + room, .from = from, .to = to};
}

class WhyNotDrawing {
 public:
  WhyNotDrawing(const planner::PlanReport& report, const PlanPoints& points)
      : report_(report),
        points_(points),
        limit_(report.explain_view.estimate.capacity),
        chart_(report.config, "this plan among others", make_plan_verdict(report).sentence) {
    Bytes min = limit_, max = limit_;
    Seconds fastest = report.time(), slowest = report.time();
    for (const PlanPoint& p : points_.points) {
      min = std::min(min, p.memory), max = std::max(max, p.memory);
      fastest = std::min(fastest, p.time), slowest = std::max(slowest, p.time);
    }
    while (max >= 1024 * unit_) unit_ = 1024 * unit_;
    top_ = chart_.y + 26;
    bottom_ = top_ + kHeight;
    x_ = make_scale(min / unit_, max / unit_, kChartMargin + kAxis, kChartRight - kEnd);
    x_.base = 2;
    y_ = make_scale(fastest.value, slowest.value, bottom_, top_);
    for (std::size_t k = 0; k < std::size(kRoles); ++k)
      chart_.css += fmt::format(".r{}{{fill:{}}}", k, kRoles[k].color);
    chart_.css += ".front{fill:none;stroke:#808080;stroke-width:2}";
  }

  std::string render() {
    draw_background();
    draw_axes();
    draw_front();
    draw_points();
    draw_labels();
    draw_legend();
    write_lists();
    return chart_.text();
  }

 private:
  double x(Bytes bytes) const { return x_.at(bytes / unit_); }
  double y(Seconds time) const { return y_.at(time.value); }

  /// Draws the area that does not fit and the band that ties with the best plan.
  void draw_background() {
    const double edge = x(limit_);
    chart_.body += svg::rect(edge, top_, x_.to - edge, kHeight, "w") + "/>\n";
    const search::Answer& found = report_.search->answer;
    if (!found.best) return;
    const double fast = std::min(bottom_, y(found.best->time()));
    const double tied = std::max(top_, y((1 + found.band) * found.best->time()));
    if (tied < fast)
      chart_.body += svg::rect(x_.from, tied, x_.to - x_.from, fast - tied, "b") + "/>\n";
  }

  void draw_axes() {
    const std::string_view time = y_.log ? "step time (log scale)" : "step time";
    chart_.write(kChartMargin, top_ - 12, "q", std::string(time));
    chart_.write(x_.to, bottom_ + 36, "e q",
                 x_.log ? "memory of the fullest rank (log scale)" : "memory of the fullest rank");
    for (const double tick : ticks(y_, 8)) {
      chart_.body += svg::line(x_.from, y_.at(tick), x_.to, y_.at(tick), "t");
      chart_.write(x_.from - 8, y_.at(tick) + 4.5, "e q", show(Seconds{tick}));
    }
    for (const double tick : ticks(x_, 9)) {
      chart_.body += svg::line(x_.at(tick), top_, x_.at(tick), bottom_, "t");
      chart_.write(x_.at(tick), bottom_ + 18, "m q", tick == 0 ? "0" : show_memory(tick * unit_));
    }
    chart_.body += svg::line(x_.from, bottom_, x_.to, bottom_, "a");
    chart_.body += svg::line(x_.from, top_, x_.from, bottom_, "a");
    const double edge = x(limit_);
    chart_.body += svg::line(edge, top_ - 6, edge, bottom_, "l");
    const std::string device =
        fmt::format("{} has {}", report_.config.cluster.device.name, show_memory(limit_));
    const bool right = edge - x_.from < 300;
    // The name of the time axis is on the same line.
    const double after = kChartMargin + measure_text_width(time, "q") + 12;
    const double at = right ? std::max(edge + 6, after) : edge - 6;
    chart_.write(at, top_ - 12, right ? "n" : "e n",
                 fitted(device, right ? x_.to - at : at - after, "n"));
  }

  /// Returns the Pareto front of the plans that fit, by increasing memory.
  std::vector<const PlanPoint*> find_front() const {
    std::vector<const PlanPoint*> all;
    for (const PlanPoint& p : points_.points)
      if (p.fits) all.push_back(&p);
    std::stable_sort(all.begin(), all.end(), [](const PlanPoint* a, const PlanPoint* b) {
      return a->memory != b->memory ? a->memory < b->memory : a->time < b->time;
    });
    std::vector<const PlanPoint*> kept;
    for (const PlanPoint* p : all)
      if (kept.empty() || p->time < kept.back()->time) kept.push_back(p);
    return kept;
  }

  /// Draws the front as steps: the time stays constant until the next plan fits.
  void draw_front() {
    std::string path;
    for (const PlanPoint* p : find_front())
      path += path.empty() ? fmt::format("M{} {}", svg::px(x(p->memory)), svg::px(y(p->time)))
                           : fmt::format("H{}V{}", svg::px(x(p->memory)), svg::px(y(p->time)));
    if (path.find('H') != std::string::npos)
      chart_.body += fmt::format("<path class=\"front\" d=\"{}\"/>\n", path);
  }

  void draw_points() {
    for (std::size_t k = 0; k < std::size(kRoles); ++k)
      for (const PlanPoint& p : points_.points) {
        if (p.role != kRoles[k].role) continue;
        chart_.body += marker(kRoles[k].path, x(p.memory), y(p.time), name_role_class(k));
        chart_.body += svg::titled(
            "path", fmt::format("{}{}: {}, {}. {}", p.change.empty() ? "" : p.change + ", ",
                                brief(p.config), show(p.time), show_memory(p.memory), p.because));
      }
  }

  /// Names the two plans of this role: the one that the search would choose and the fastest.
  std::string_view name_best(const PlanPoint& p) const {
    const std::optional<search::EvaluatedPlan>& best = report_.search->answer.best;
    return best && best->config.plan == p.config.plan ? "best" : "fastest";
  }

  std::string make_label(const PlanPoint& p) const {
    if (p.role == PointRole::itself) return fmt::format("this plan, {}", show(p.time));
    if (p.role == PointRole::neighbour) return p.change;
    if (p.role == PointRole::best) return fmt::format("{}, {}", name_best(p), show(p.time));
    return brief(p.config);
  }

  /// Returns the lines that labels must avoid: the limit and the steps of the front.
  std::vector<LabelBox> list_obstacles() const {
    std::vector<LabelBox> all{{x(limit_) - 2, top_, x(limit_) + 2, bottom_}};
    const std::vector<const PlanPoint*> front = find_front();
    for (std::size_t k = 1; k < front.size(); ++k) {
      const double left = x(front[k - 1]->memory), right = x(front[k]->memory);
      const double slow = y(front[k - 1]->time), fast = y(front[k]->time);
      all.push_back({left, slow - 1, right, slow + 1});
      all.push_back({right - 1, slow, right + 1, fast});
    }
    return all;
  }

  /// Writes labels: those of this plan and of the best anywhere with room, the others only
  /// directly beside their points.
  void draw_labels() {
    LabelRoom room({x_.from + 2, top_ + 2, x_.to - 2, bottom_ - 2});
    for (const PlanPoint& p : points_.points)
      room.block(
          {x(p.memory) - kRadius, y(p.time) - kRadius, x(p.memory) + kRadius, y(p.time) + kRadius});
    for (const LabelBox& box : list_obstacles()) room.block(box);
    for (std::size_t k = std::size(kRoles); k-- > 0;)
      for (const PlanPoint& p : points_.points) {
        if (p.role != kRoles[k].role) continue;
        const bool first = p.role == PointRole::itself || p.role == PointRole::best;
        const std::string_view classes = first ? "s n" : "s q";
        const std::string text = make_label(p);
        const double width = measure_text_width(text, classes);
        if (width > kLongestLabel) continue;
        const std::optional<LabelBox> box =
            room.take(x(p.memory), y(p.time), width, measure_text_height(classes) + 2,
                      first ? kFar : kBeside, find_side(p));
        if (!box) continue;
        draw_leader(p, *box);
        chart_.write(box->left, box->bottom - 3, classes, text);
      }
  }

  /// Returns the part of the frame that a label may be in: that of plans that fit, or of those that
  /// do not, so that no label claims otherwise.
  LabelBox find_side(const PlanPoint& p) const {
    const double edge = std::clamp(x(limit_), x_.from, x_.to);
    const bool left = p.memory <= limit_;
    return {left ? x_.from : edge, top_, left ? edge : x_.to, bottom_};
  }

  /// Draws a line from a point to a label that is not beside it.
  void draw_leader(const PlanPoint& p, const LabelBox& box) {
    const double at_x = std::clamp(x(p.memory), box.left, box.right);
    const double at_y = std::clamp(y(p.time), box.top, box.bottom);
    const double away = std::hypot(at_x - x(p.memory), at_y - y(p.time));
    if (away < 2 * kRadius) return;
    const double begin = kRadius / away;
    chart_.body += svg::line(std::lerp(x(p.memory), at_x, begin), std::lerp(y(p.time), at_y, begin),
                             at_x, at_y, "a");
  }

  void draw_legend() {
    chart_.y = bottom_ + 62;
    std::vector<LegendKey> keys;
    for (std::size_t k = std::size(kRoles); k-- > 0;)
      if (std::any_of(points_.points.begin(), points_.points.end(),
                      [&](const PlanPoint& p) { return p.role == kRoles[k].role; }))
        keys.push_back({name_role_class(k), std::string(kRoles[k].words), kRoles[k].path});
    if (const search::Answer& found = report_.search->answer; found.best)
      keys.push_back(
          {"b", fmt::format("within {} of the best: too close to call", percent(found.band))});
    keys.push_back({"w", "does not fit"});
    add_legend(chart_, keys);
  }

  /// Lists the main plans and the changes that are not possible.
  void write_lists() {
    const auto add = [&](std::string_view name, std::string_view rest) {
      constexpr double kName = 130;
      chart_.write(kChartMargin, chart_.y, "n", name);
      for (const std::string& line : break_text(rest, kChartRight - kChartMargin - kName)) {
        chart_.write(kChartMargin + kName, chart_.y, "q", line);
        chart_.y += kChartLine;
      }
    };
    chart_.y += 8;
    for (const PlanPoint& p : points_.points)
      if (p.role == PointRole::itself || p.role == PointRole::best)
        add(p.role == PointRole::itself ? "this plan" : name_best(p), brief(p.config));
    std::string refused;
    for (const RefusedChange& one : points_.refused)
      refused += (refused.empty() ? "" : ", ") + one.change;
    if (!refused.empty()) add("not possible", refused);
    chart_.y += 2;
  }

  const planner::PlanReport& report_;
  const PlanPoints& points_;
  Bytes limit_;
  Chart chart_;
  Bytes unit_{1};  // of the axis, so that its ticks are round
  double top_ = 0, bottom_ = 0;
  Scale x_{}, y_{};
};

}  // namespace

std::string draw_why_not_svg(const planner::PlanReport& report, const PlanPoints& points) {
  return WhyNotDrawing(report, points).render();
}

std::string draw_why_not_svg(const planner::PlanReport& report) {
  return draw_why_not_svg(report, collect_points(report));
}

}  // namespace rankwright::report
