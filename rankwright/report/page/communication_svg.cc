#include "rankwright/report/page/communication_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/render/chart.h"

namespace rankwright::report {
namespace {

constexpr double kCollectiveNames = 212;  // pixels
constexpr double kCellGap = 4, kPad = 6;
constexpr double kSmallLine = 14;
constexpr double kFaintest = 0.05, kDarkest = 0.6;  // opacity; text stays readable on it

constexpr std::string_view kAbout =
    "Each collective in the column of the outermost links that it crosses; the deeper the colour, "
    "the longer. Times are those of all calls one after another, whether or not they are hidden.";

/// Joins texts into lines of at most `width` pixels, without breaking a text that fits on a line.
std::vector<std::string> pack_lines(const std::vector<std::string>& parts, double width) {
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    const std::string longer = lines.empty() ? part : lines.back() + " · " + part;
    if (!lines.empty() && measure_text_width(longer, "s") <= width)
      lines.back() = longer;
    else
      for (std::string& line : break_text(part, width, "s")) lines.push_back(std::move(line));
  }
  return lines;
}

class CommunicationDrawing {
 public:
  explicit CommunicationDrawing(const planner::PlanReport& report)
      : cluster_(report.config.cluster),
        rows_(report.explain_view.communication),
        chart_(report.config, "which collective crosses which links",
               report.explain_view.communication.empty() ? "Nothing is sent: there is one rank."
                                                         : kAbout),
        column_width_((kChartRight - kChartMargin - kCollectiveNames) /
                      double(cluster_.levels.size())) {
    for (const planner::CommunicationRow& row : rows_)
      longest_ = std::max(longest_, row.evaluated.total);
    chart_.css += ".hot{fill:#b25f95}";
  }

  std::string render() {
    if (!rows_.empty()) draw_head();
    for (const planner::CommunicationRow& row : rows_) draw(row);
    chart_.y += 14;
    return chart_.text();
  }

 private:
  double left(std::size_t level) const {
    return kChartMargin + kCollectiveNames + column_width_ * double(level);
  }
  double inner() const { return column_width_ - kCellGap - 2 * kPad; }

  void write_lines(double at, double baseline, std::string_view classes,
                   const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      chart_.write(at, baseline + kSmallLine * double(i), classes, lines[i]);
  }

  void draw_head() {
    chart_.y += 16;
    std::size_t max = 0;
    for (std::size_t k = 0; k < cluster_.levels.size(); ++k) {
      const cluster::Level& level = cluster_.levels[k];
      chart_.write(left(k) + kPad, chart_.y, "n", fitted(level.name, inner(), "n"));
      std::vector<std::string> parts{
          show(level.bandwidth) +
          (level.per == cluster::Level::Per::device ? " a device" : " a domain")};
      if (level.oversubscription > 1)
        parts.push_back(fmt::format("{:.3g} : 1 shared", level.oversubscription));
      const std::vector<std::string> lines = pack_lines(parts, inner());
      write_lines(left(k) + kPad, chart_.y + kSmallLine, "q s", lines);
      max = std::max(max, lines.size());
    }
    chart_.y += kSmallLine * double(max) + 10;
  }

  /// Returns the figures in the cell of the outermost level.
  std::vector<std::string> list_figures(const planner::CommunicationRow& row) const {
    const cost::TrafficCost& evaluated = row.evaluated;
    std::vector<std::string> parts{plural(evaluated.traffic.calls, "call", "calls"),
                                   show(evaluated.traffic.total),
                                   plural(evaluated.sharers, "group", "groups") + " on a link"};
    if (evaluated.slowest >= 0 && evaluated.slowest != evaluated.level)
      parts.push_back(row.slowest + " sets the time");
    return pack_lines(parts, inner());
  }

  /// Says how many ranks of a group are inside a domain of an inner level; empty if the group
  /// does not cross that level.
  static std::string describe_inner_level(const cost::TrafficCost& evaluated, std::size_t level) {
    const i64 here = evaluated.span.inside[level],
              below = level == 0 ? 1 : evaluated.span.inside[level - 1];
    return here > below ? plural(here, "rank", "ranks") + " inside" : std::string();
  }

  void draw(const planner::CommunicationRow& row) {
    const cost::TrafficCost& evaluated = row.evaluated;
    const plan::TrafficKindRow& kind = rankwright::plan::row(evaluated.traffic.kind);
    const std::vector<std::string> lines = list_figures(row);
    const std::vector<std::string> who = pack_lines(
        {fmt::format("{} of {}", name(evaluated.traffic.group), count(evaluated.span.size)),
         std::string(kind.frequency)},
        kCollectiveNames - kPad);
    const double height =
        20 + kSmallLine * double(std::max(lines.size(), who.size())) + kPad - kCellGap;
    chart_.write(kChartMargin, chart_.y + 16, "", fitted(kind.label, kCollectiveNames - kPad));
    write_lines(kChartMargin, chart_.y + 16 + kSmallLine, "q s", who);
    for (std::size_t k = 0; k < cluster_.levels.size(); ++k) {
      chart_.body += svg::rect(left(k), chart_.y, column_width_ - kCellGap, height, "b") + "/>\n";
      if (int(k) == evaluated.level)
        draw_crossed(row, left(k), height, lines);
      else if (int(k) < evaluated.level)
        write_lines(left(k) + kPad, chart_.y + 16, "q s",
                    break_text(describe_inner_level(evaluated, k), inner(), "s"));
    }
    chart_.y += height + kCellGap;
  }

  void draw_crossed(const planner::CommunicationRow& row, double at, double height,
                    const std::vector<std::string>& lines) {
    const cost::TrafficCost& evaluated = row.evaluated;
    const plan::TrafficKindRow& kind = rankwright::plan::row(evaluated.traffic.kind);
    // The square root keeps short collectives visible.
    const double share = longest_ > Seconds{} ? std::sqrt(evaluated.total / longest_) : 0;
    std::string cell = svg::rect(at, chart_.y, column_width_ - kCellGap, height, "hot");
    cell += fmt::format(" fill-opacity=\"{:.2f}\"", kFaintest + (kDarkest - kFaintest) * share);
    chart_.body +=
        cell +
        svg::titled("rect",
                    fmt::format("{} on PP rank {}: {} calls of {}, {}. {}", kind.label, row.pp_rank,
                                count(evaluated.traffic.calls), show(evaluated.traffic.bytes()),
                                show(evaluated.total), kind.risk));
    chart_.write(at + kPad, chart_.y + 16, "n", fitted(show(evaluated.total), inner(), "n"));
    write_lines(at + kPad, chart_.y + 16 + kSmallLine, "s", lines);
  }

  const cluster::Cluster& cluster_;
  const std::vector<planner::CommunicationRow>& rows_;
  Chart chart_;
  double column_width_;
  Seconds longest_{};
};

}  // namespace

std::string draw_communication_svg(const planner::PlanReport& report) {
  return CommunicationDrawing(report).render();
}

}  // namespace rankwright::report
