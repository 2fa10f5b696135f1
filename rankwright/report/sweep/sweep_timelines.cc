#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/planner/timeline/simulated_step.h"
#include "rankwright/program/expand.h"
#include "rankwright/report/render/time_ticks.h"
#include "rankwright/report/sweep/sweep_drawing.h"
#include "rankwright/report/sweep/sweep_sentences.h"
#include "rankwright/report/sweep/sweep_svg.h"
#include "rankwright/report/timeline/timeline_drawing.h"

namespace rankwright::report {
namespace {

/// Stacked timelines on one time scale.
class SweptTimelines {
 public:
  explicit SweptTimelines(const planner::SweepAnswer& answer)
      : view_(answer.view),
        chart_(answer.plan.config(), fmt::format("timelines by {}", view_.key->head),
               describe_sweep(view_)) {
    for (const planner::SweepRow& row : view_.rows)
      if (row.estimated()) end_ = std::max(end_, row.estimate.time());
    i64 cells = 0;
    for (const planner::SweepRow& row : view_.rows)
      if (can_simulate(row)) cells += count_cells(row);
    each_ = cells <= kMaxDrawnCells;
  }

  std::string render() {
    chart_.write(kChartRight, chart_.y + 12, "e q", "ideal bubble");
    chart_.y += 22;
    for (std::size_t i = 0; i < view_.rows.size(); ++i) draw_panel(i);
    draw_axis();
    draw_legend();
    for (const auto& [name, color] : colors_)
      chart_.css += fmt::format(".{}{{fill:{}}}", name, color);
    return chart_.text();
  }

 private:
  static i64 count_cells(const planner::SweepRow& row) {
    return pipeline::cell_count(make_pipeline_shape(row.config)).value_or(kMaxCount);
  }

  static bool can_simulate(const planner::SweepRow& row) {
    return row.estimated() && count_cells(row) <= kMaxSweptCells &&
           program::bound_expansion_bytes(row.config) <= program::kMaxExpansion;
  }

  double x(Seconds t) const {
    return kLeft + (end_.value > 0 ? t / end_ * (kRightEdge - kLeft) : 0);
  }

  /// Returns the class of a color, and remembers it for the style.
  std::string paint(planner::EventKind kind, i64 chunk, i64 chunks) {
    std::string name = fmt::format("{}{}of{}", "fbiwco"[std::size_t(kind)], chunk, chunks);
    colors_.emplace(name, hex(shade(kind, chunk, chunks)));
    return name;
  }

  void draw_panel(std::size_t i) {
    const planner::SweepRow& row = view_.rows[i];
    if (!row.estimated()) return write_swept_reason(chart_, view_, i, kLeft);
    const std::vector<i64> ranks = select_ranks_to_draw(row.config.plan.pp, kMaxRanks);
    const double height = std::max(double(ranks.size()) * kPitch, 2 * kChartLine);
    chart_.write(kChartMargin, chart_.y + 12, "n", format_sweep_value(*view_.key, row.value));
    const std::string mark = mark_swept_value(view_, i);
    chart_.write(kChartMargin, chart_.y + 28, "s q",
                 show(row.estimate.time()) + (mark.empty() ? "" : ", " + mark));
    chart_.write(kChartRight, chart_.y + 12, "e",
                 row.config.plan.pp > 1 ? format_exact_percent(row.bubble) : "none");
    if (can_simulate(row))
      draw_ranks(planner::simulate_step(row.config), ranks);
    else
      chart_.write(kLeft, chart_.y + 12, "q",
                   fmt::format("{} actions are too many to draw", count(count_cells(row))));
    chart_.y += height + kGap;
  }

  void draw_ranks(const planner::SimulatedStep& step, const std::vector<i64>& ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const double top = chart_.y + double(r) * kPitch;
      chart_.body += svg::rect(kLeft, top, x(step.timeline.end) - kLeft, kBar, "b") + "/>\n";
      if (each_)
        draw_cells(step, ranks[r], top);
      else
        draw_columns(step, ranks[r], top);
    }
  }

  void draw_cells(const planner::SimulatedStep& step, i64 rank, double top) {
    const std::vector<program::Event> all = events(step, rank);
    for (const bool beside : {false, true})
      for (const program::Event& event : all)
        if (planner::is_beside(step.program, rank, event.action) == beside)
          draw_event(step, rank, event, top, beside);
  }

  /// Draws a cell with its micro-batch where it fits, or a step; overlapped steps as a low strip.
  void draw_event(const planner::SimulatedStep& step, i64 rank, const program::Event& event,
                  double top, bool beside) {
    constexpr double kSeam = 0.6, kDigit = 6.2, kStrip = 3;
    const i64 shades = count_shades(step.shape);
    const planner::EventKind kind = planner::classify_event(step.program, rank, event.action);
    used_.insert(kind);
    const bool cell = is_cell(event.action.kind);
    const i64 index = cell ? find_shade(step.shape, rank, event.action) : 0;
    const double left = x(event.start), width = x(event.end) - left;
    const double height = beside ? kStrip : kBar;
    chart_.body += svg::rect(left, top + kBar - height, width > 4 * kSeam ? width - kSeam : width,
                             height, paint(kind, index, cell ? shades : 1)) +
                   "/>\n";
    const std::string label = cell ? std::to_string(event.action.microbatch) : "";
    if (!label.empty() && width >= kDigit * double(label.size()) + 2)
      chart_.write(left + width / 2, top + kBar - 2.5,
                   fmt::format("m x {}", choose_text_class(shade(kind, index, shades))), label);
  }

  /// Draws the prevailing kind of work in each column of two pixels, runs of equal ones merged.
  void draw_columns(const planner::SimulatedStep& step, i64 rank, double top) {
    const double wide = x(step.timeline.end) - kLeft;
    const std::size_t count = std::max<std::size_t>(1, std::size_t(wide / 2));
    const std::vector<Column> all = columns(step, rank, count);
    const auto prevailing = [](const Column& column) {
      const auto most = std::max_element(column.share.begin(), column.share.end());
      const bool idle = column.busy() < 0.5;
      return idle ? planner::kEventKinds : std::size_t(most - column.share.begin());
    };
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t kind = prevailing(all[begin]);
      std::size_t end = begin;
      while (end < count && prevailing(all[end]) == kind) ++end;
      if (kind < planner::kEventKinds) {
        used_.insert(planner::EventKind(kind));
        chart_.body += svg::rect(kLeft + wide * double(begin) / double(count), top,
                                 wide * double(end - begin) / double(count), kBar,
                                 paint(planner::EventKind(kind), 0, 1)) +
                       "/>\n";
      }
      begin = end;
    }
  }

  void draw_axis() {
    chart_.body += svg::line(kLeft, chart_.y, kRightEdge, chart_.y, "a");
    for (const Seconds tick : place_ticks(end_, 8)) {
      chart_.body += svg::line(x(tick), chart_.y, x(tick), chart_.y + 5, "a");
      chart_.write(x(tick), chart_.y + 19, "m q", tick.value == 0 ? "0" : show(tick));
    }
    chart_.y += 46;
  }

  void draw_legend() {
    std::vector<LegendKey> keys;
    for (const planner::EventKind kind : used_)
      keys.push_back({paint(kind, 0, 1), std::string(row(kind).name)});
    keys.push_back({"b", "idle"});
    add_legend(chart_, keys);
    write_swept_caption(
        chart_, std::string(each_ ? "One row per PP rank; numbers are micro-batches. "
                                  : "One row per PP rank, in the color of what it does most. ") +
                    view_.fixed);
  }

  static constexpr double kLeft = kChartMargin + kSweepLabels,
                          kRightEdge = kChartRight - kSweepFigures;
  static constexpr double kPitch = 13, kBar = 12, kGap = 12;
  static constexpr i64 kMaxRanks = 8;

  const planner::SweepView& view_;
  Chart chart_;
  Seconds end_{};
  bool each_ = true;
  std::map<std::string, std::string> colors_{};  // by class
  std::set<planner::EventKind> used_{};
};

}  // namespace

std::string mark_swept_value(const planner::SweepView& view, std::size_t i) {
  const planner::SweepRow& row = view.rows[i];
  if (view.best == i) return row.own ? "fastest, this plan" : "fastest";
  if (row.own) return "this plan";
  if (!row.estimate.fits()) return "does not fit";
  return std::string(row.refused);
}

void write_swept_reason(Chart& chart, const planner::SweepView& view, std::size_t i, double x) {
  chart.write(kChartMargin, chart.y + 13, "q", format_sweep_value(*view.key, view.rows[i].value));
  chart.write(x, chart.y + 13, "q", fitted(view.rows[i].impossible, kChartRight - x));
  chart.y += 24;
}

void write_swept_caption(Chart& chart, std::string_view words) {
  for (const std::string& line : break_text(words, kChartRight - kChartMargin, "q")) {
    chart.write(kChartMargin, chart.y, "q", line);
    chart.y += kChartLine;
  }
}

std::string draw_swept_timelines(const planner::SweepAnswer& answer) {
  return SweptTimelines(answer).render();
}

}  // namespace rankwright::report
