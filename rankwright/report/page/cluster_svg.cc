#include "rankwright/report/page/cluster_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "rankwright/base/format.h"
#include "rankwright/report/page/cluster_labels.h"
#include "rankwright/report/page/cluster_layout.h"
#include "rankwright/report/render/chart.h"

namespace rankwright::report {
namespace {

constexpr double kSmallest = 24, kLargest = 44;  // side of a device, in pixels
constexpr double kHighest = 420;      // of the drawing, if devices are larger than their minimum
constexpr double kLongestName = 170;  // pixels, for a level's name and number
constexpr double kLongestRuns = 90;   // pixels, for a list of pp ranks
constexpr double kApart = 12;         // between texts above a domain
constexpr double kThinnest = 1.2, kThickest = 3;

/// The text size of rank numbers in drawings of up to `devices` devices.
struct NumberSize {
  std::size_t devices;
  std::string_view classes;
};
constexpr NumberSize kNumberSizes[] = {{64, ""}, {128, "s"}, {SIZE_MAX, "x"}};

constexpr std::string_view kNameClass = "s q", kBoldClass = "s n";

class ClusterDrawing {
 public:
  explicit ClusterDrawing(const planner::PlanReport& report)
      : config_(report.config),
        map_(report.ranks),
        colors_(choose_device_colors(config_, map_)),
        times_(count_in_domain(map_)),
        chart_(config_, "where ranks sit", map_.words) {
    for (i64 k = 0; k < std::min(colors_.colors, kChartColors); ++k)
      chart_.css += fmt::format(".c{}{{fill:{}}}", k, hex(pick_chart_color(k)));
    for (std::size_t k = 0; k < levels().size(); ++k)
      chart_.css += fmt::format(".w{}{{stroke-width:{:.1f}}}", k, choose_thickness(k));
    chart_.css +=
        ".u{fill:#808080;fill-opacity:.08}.i{fill:none;stroke:#8c959f;stroke-dasharray:3 2}"
        ".y{stroke:#000;stroke-opacity:.4;stroke-width:.8}.f{fill:none;stroke:#8c959f;stroke-"
        "opacity:.6}";
  }

  std::string render() {
    chart_.y += 6;
    const PlacedDomain root = place();
    find_roomy_levels(root);
    draw(root);
    chart_.y = root.bottom() + 30;
    write_lists();
    write_legend();
    return chart_.text();
  }

 private:
  const std::vector<cluster::Level>& levels() const { return config_.cluster.levels; }
  const cluster::Level& level(const planner::MapDomain& domain) const {
    return levels()[std::size_t(domain.level)];
  }

  DomainLabel make_label(const planner::MapDomain& domain) const {
    DomainLabel of = make_domain_label(config_.cluster, domain, colors_);
    of.name = fitted(of.name, kLongestName, kNameClass);
    of.stages = fitted(of.stages, kLongestRuns, kBoldClass);
    return of;
  }

  double measure_title(const planner::MapDomain& domain) const {
    const DomainLabel of = make_label(domain);
    double width = measure_text_width(of.name, kNameClass);
    for (const std::string& part : {of.stages, of.times})
      if (!part.empty()) width += kApart + measure_text_width(part, kBoldClass);
    return width;
  }

  std::string format_rank(std::size_t device) const {
    const i64 rank = map_.devices[device].rank;
    return rank < 0 ? "-" : std::to_string(rank);
  }
  std::string format_times(std::size_t device) const {
    return times_[device] > 1 ? "x " + count(times_[device]) : "";
  }

  double find_smallest_side() const {
    double longest = 0;
    for (std::size_t k = 0; k < map_.devices.size(); ++k)
      longest = std::max({longest, measure_text_width(format_rank(k), number_size_),
                          measure_text_width(format_times(k), "x")});
    return std::max(kSmallest, std::ceil(longest) + 7);
  }

  /// Lays out the cluster with the largest devices for which there is room.
  PlacedDomain place() {
    constexpr double kStep = 4;
    number_size_ = std::find_if(std::begin(kNumberSizes), std::end(kNumberSizes), [&](auto& size) {
                     return map_.devices.size() <= size.devices;
                   })->classes;
    const double smallest = find_smallest_side();
    for (side_ = std::max(smallest, kLargest);; side_ = std::max(smallest, side_ - kStep)) {
      PlacedDomain root = compute_cluster_layout(
          map_.root, {.left = kChartMargin,
                      .top = chart_.y,
                      .side = side_,
                      .widest = kChartRight - kChartMargin,
                      .heading = [&](const planner::MapDomain& d) { return measure_title(d); }});
      if (side_ == smallest || root.height <= kHighest) return root;
    }
  }

  /// Finds the levels whose boxes all have room for the speed of their links.
  void find_roomy_levels(const PlacedDomain& at) {
    roomy_.resize(levels().size(), true);
    const double more = measure_text_width(" · " + describe_link(level(*at.domain)), kNameClass);
    if (measure_title(*at.domain) + more + kApart > at.width - kDomainLeft - kDomainRight)
      roomy_[std::size_t(at.domain->level)] = false;
    for (const PlacedDomain& below : at.domains) find_roomy_levels(below);
  }

  /// Returns the line width of a level's links; faster links are thicker.
  double choose_thickness(std::size_t k) const {
    const auto speed = [](const cluster::Level& l) {
      return l.bandwidth.value / l.oversubscription;
    };
    double slowest = INFINITY;
    for (const cluster::Level& l : levels()) slowest = std::min(slowest, speed(l));
    const double doublings = std::log2(speed(levels()[k]) / slowest);
    return std::isfinite(doublings) ? std::min(kThickest, kThinnest + 0.6 * doublings) : kThinnest;
  }

  void draw(const PlacedDomain& at) {
    const i64 behind = at.domain->count - 1;
    chart_.body += "<g>\n" + svg::rect(at.x, at.y, at.width, at.height, "u");
    chart_.body += svg::titled(
        "rect",
        fmt::format("{}{}: {}", make_domain_label(config_.cluster, *at.domain, colors_).name,
                    behind > 0 ? fmt::format(" and {} more like it", count(behind)) : "",
                    describe_link(level(*at.domain))));
    if (behind > 0)  // the edges of the domains behind it
      chart_.body += fmt::format("<path class=\"f\" d=\"M{} {}h{}v{}\"/>\n", svg::px(at.x + 3),
                                 svg::px(at.bottom() + 3), svg::px(at.width), svg::px(-at.height));
    write_title(at);
    draw_bars(at);
    for (const PlacedDevice& device : at.devices) draw_device(device);
    for (const PlacedDomain& below : at.domains) draw(below);
    chart_.body += "</g>\n";
  }

  void write_title(const PlacedDomain& at) {
    const DomainLabel of = make_label(*at.domain);
    const bool roomy = roomy_[std::size_t(at.domain->level)];
    chart_.write(at.x + kDomainLeft, at.y + 13, kNameClass,
                 roomy ? of.name + " · " + describe_link(level(*at.domain)) : of.name);
    double end = at.right() - kDomainRight;
    for (const std::string& part : {of.times, of.stages}) {
      if (part.empty()) continue;
      chart_.write(end, at.y + 13, fmt::format("e {}", kBoldClass), part);
      end -= measure_text_width(part, kBoldClass) + kApart;
    }
  }

  /// Draws a bar above each row, the stubs to its members, and the trunk to the level above.
  void draw_bars(const PlacedDomain& at) {
    const std::string link = fmt::format("a w{}", at.domain->level);
    const double trunk = at.x + kDomainTrunk;
    const bool alone = at.domain == &map_.root;
    if (!alone || at.bars.size() > 1)
      chart_.body += svg::line(trunk, alone ? at.bars.front() : at.y, trunk, at.bars.back(), link);
    for (const double bar : at.bars) {
      double end = trunk;
      const auto hang = [&](double x, double top) {
        if (top != bar + kDomainStub) return;  // in another row
        chart_.body += svg::line(x, bar, x, top, link);
        end = std::max(end, x);
      };
      for (const PlacedDevice& device : at.devices) hang(device.x + side_ / 2, device.y);
      for (const PlacedDomain& below : at.domains) hang(below.x + kDomainTrunk, below.y);
      chart_.body += svg::line(trunk, bar, end, bar, link);
    }
  }

  void draw_device(const PlacedDevice& at) {
    const i64 color = colors_.of_device[at.device];
    chart_.body += svg::rect(at.x, at.y, side_, side_,
                             color < 0 ? "i" : fmt::format("c{} y", color % kChartColors));
    chart_.body += svg::titled("rect", describe_device(config_, map_.devices[at.device]));
    const std::string_view on = color < 0 ? "q" : choose_text_class(pick_chart_color(color));
    const std::string more = format_times(at.device);
    const double middle = at.y + side_ / 2;
    chart_.write(at.x + side_ / 2,
                 more.empty() ? middle + 0.36 * measure_text_height(number_size_) : middle - 1,
                 fmt::format("m {} {}", number_size_, on), format_rank(at.device));
    if (!more.empty()) chart_.write(at.x + side_ / 2, middle + 9, fmt::format("m x {}", on), more);
  }

  /// Writes a name and its description; moves `y` below them.
  void row(double left, double& y, std::string_view name, std::string_view rest) {
    constexpr double kName = 92, kColumn = (kChartRight - kChartMargin) / 2;
    chart_.write(left, y, "n", fitted(name, kName - 8, "n"));
    for (const std::string& line : break_text(rest, kColumn - kName - 12)) {
      chart_.write(left + kName, y, "q", line);
      y += kChartLine;
    }
  }

  /// Writes two columns: links and groups.
  void write_lists() {
    double left = chart_.y, right = chart_.y;
    for (std::size_t k = 0; k < levels().size(); ++k) {
      const i64 arity = levels()[k].arity;
      const std::string below = k == 0 ? plural(arity, "device", "devices")
                                       : fmt::format("{} x {}", count(arity), levels()[k - 1].name);
      row(kChartMargin, left, levels()[k].name,
          fmt::format("{}, {}", below, describe_link(levels()[k])));
    }
    for (const planner::MapGroups& of : map_.groups)
      row(kChartWidth / 2, right, fmt::format("{} {}", name(of.kind), count(of.span.size)),
          fmt::format("{}, {}", plural(of.groups, "group", "groups"),
                      planner::describe_span(config_.cluster, of.span)));
    chart_.y = std::max(left, right) + 8;
  }

  /// Writes the legend of the colors.
  void write_legend() {
    std::vector<LegendKey> all;
    for (i64 k = 0; colors_.by_stage && k < std::min(colors_.colors, kChartColors); ++k)
      all.push_back({fmt::format("c{}", k), fmt::format("pp {}", k)});
    if (std::any_of(map_.devices.begin(), map_.devices.end(),
                    [](const planner::MapDevice& d) { return d.rank < 0; }))
      all.push_back({"i", "idle"});
    if (!all.empty()) add_legend(chart_, all);
    std::string about = "Numbers are ranks; thicker lines are faster links.";
    if (!colors_.by_stage && !colors_.kind.empty())
      about += fmt::format(" A colour is a {} group.", colors_.kind);
    if (colors_.colors > kChartColors)
      about += fmt::format(" There are {} colours: the next are the same again.", kChartColors);
    chart_.write(kChartMargin, chart_.y, "q", about);
    chart_.y += kChartLine;
  }

  const plan::TrainingConfig& config_;
  const planner::RankMap& map_;
  DeviceColors colors_;
  std::vector<i64> times_;
  Chart chart_;
  std::vector<bool> roomy_{};
  std::string_view number_size_{};
  double side_ = 0;
};

}  // namespace

std::string draw_cluster_svg(const planner::PlanReport& report) {
  return ClusterDrawing(report).render();
}

}  // namespace rankwright::report
