#include "rankwright/report/sweep/sweep_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/report/sweep/sweep_drawing.h"
#include "rankwright/report/sweep/sweep_sentences.h"

namespace rankwright::report {
namespace {

/// A part of a bar: its name, its color and its size. The colors are those of web/src/palette.ts.
struct SweptPart {
  std::string_view name;
  Rgb color;
  double (*read)(const planner::SweepRow&);
};

double read_compute_time(const planner::SweepRow& row) { return row.estimate.step.compute().value; }
double read_exposed_time(const planner::SweepRow& row) { return row.exposed.value; }
double read_pipeline_time(const planner::SweepRow& row) {
  const cost::StepTime& step = row.estimate.step;
  return (step[cost::Item::bubble] + step[cost::Item::imbalance]).value;
}
double read_other_time(const planner::SweepRow& row) {
  return std::max(0.0, row.estimate.time().value - read_compute_time(row) - read_exposed_time(row) -
                           read_pipeline_time(row));
}

constexpr SweptPart kTimeParts[] = {
    {"compute", {0x1B, 0x7F, 0xBD}, read_compute_time},
    {"exposed communication", {0xB2, 0x5F, 0x95}, read_exposed_time},
    {"bubble and imbalance", {0x80, 0x80, 0x80}, read_pipeline_time},
    {"other", {0x4B, 0x8F, 0xB5}, read_other_time},
};
constexpr SweptPart kMemoryParts[] = {
    {"parameters, gradients, optimizer",
     {0x0F, 0x8A, 0x80},
     [](const planner::SweepRow& row) { return row.estimate.memory.states().value; }},
    {"activations and temporary memory",
     {0xC4, 0x50, 0x6E},
     [](const planner::SweepRow& row) {
       return (row.estimate.memory.allocated() - row.estimate.memory.states()).value;
     }},
    {"outside tensors",
     {0x77, 0x81, 0x8A},
     [](const planner::SweepRow& row) {
       return (row.estimate.memory.total() - row.estimate.memory.allocated()).value;
     }},
};

/// Bars of time and memory side by side.
class SweptBars {
 public:
  explicit SweptBars(const planner::SweepAnswer& answer)
      : view_(answer.view),
        chart_(answer.plan.config(), fmt::format("time and memory by {}", view_.key->head),
               describe_sweep(view_)),
        capacity_(answer.plan.config().cluster.device.memory) {
    for (const planner::SweepRow& row : view_.rows) {
      if (!row.estimated()) continue;
      max_time_ = std::max(max_time_, row.estimate.time().value);
      max_memory_ = std::max(max_memory_, row.estimate.memory.total().value);
      capacity_ = row.estimate.capacity;
    }
    max_memory_ = std::max(max_memory_, capacity_.value);
    add_colors('t', kTimeParts);
    add_colors('y', kMemoryParts);
  }

  std::string render() {
    chart_.write(kTime, chart_.y + 12, "n", "step time");
    chart_.write(kMemory, chart_.y + 12, "n", "memory of the fullest rank");
    chart_.y += 36;
    const double top = chart_.y;
    for (std::size_t i = 0; i < view_.rows.size(); ++i) draw_row(i);
    const double limit = kMemory + kWide * capacity_.value / max_memory_;
    chart_.body += svg::line(limit, top - 4, limit, chart_.y, "l");
    const std::string device = fmt::format("device: {}", show_memory(capacity_));
    const bool left = limit - kMemory > measure_text_width(device, "s");
    chart_.write(left ? limit - 4 : limit + 4, top - 8, left ? "e s q" : "s q", device);
    chart_.y += 22;
    write_legend('t', kTimeParts);
    write_legend('y', kMemoryParts);
    write_swept_caption(chart_, view_.fixed);
    return chart_.text();
  }

 private:
  static std::string part_class(char letter, std::size_t k) {
    return fmt::format("{}{}", letter, k);
  }

  void add_colors(char letter, std::span<const SweptPart> parts) {
    for (std::size_t k = 0; k < parts.size(); ++k)
      chart_.css += fmt::format(".{}{{fill:{}}}", part_class(letter, k), hex(parts[k].color));
  }

  void write_legend(char letter, std::span<const SweptPart> parts) {
    std::vector<LegendKey> keys;
    for (std::size_t k = 0; k < parts.size(); ++k)
      keys.push_back({part_class(letter, k), std::string(parts[k].name)});
    add_legend(chart_, keys);
  }

  void draw_row(std::size_t i) {
    const planner::SweepRow& row = view_.rows[i];
    if (!row.estimated()) return write_swept_reason(chart_, view_, i, kTime);
    chart_.write(kChartMargin, chart_.y + 12, "n", format_sweep_value(*view_.key, row.value));
    chart_.write(kChartMargin, chart_.y + 26, "s q", mark_swept_value(view_, i));
    const double end = draw_bar('t', kTimeParts, row, kTime, max_time_);
    chart_.write(end + 6, chart_.y + 13, "", show(row.estimate.time()));
    draw_bar('y', kMemoryParts, row, kMemory, max_memory_);
    chart_.write(kChartRight, chart_.y + 13, row.estimate.fits() ? "e" : "e n",
                 show_memory(row.estimate.memory.total()));
    chart_.y += kPitch;
  }

  /// Draws the parts side by side and returns the right end.
  double draw_bar(char letter, std::span<const SweptPart> parts, const planner::SweepRow& row,
                  double left, double max) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const double width = max > 0 ? kWide * parts[k].read(row) / max : 0;
      if (width <= 0) continue;
      chart_.body += svg::rect(left, chart_.y, width, kBar, part_class(letter, k)) + "/>\n";
      left += width;
    }
    return left;
  }

  static constexpr double kTime = kChartMargin + kSweepLabels;
  static constexpr double kWide = 300, kMemory = kTime + kWide + 104;
  static constexpr double kPitch = 34, kBar = 18;

  const planner::SweepView& view_;
  Chart chart_;
  Bytes capacity_{};
  double max_time_ = 0, max_memory_ = 0;
};

}  // namespace

std::string draw_sweep_svg(const planner::SweepAnswer& answer) {
  return answer.view.key->timeline ? draw_swept_timelines(answer) : SweptBars(answer).render();
}

}  // namespace rankwright::report
