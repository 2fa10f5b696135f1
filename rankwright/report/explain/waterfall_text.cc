#include "rankwright/report/explain/waterfall_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

constexpr double kSmallBar = 0.002;  // of the step; smaller bars are merged

/// Returns the bars to show; the small ones are merged into one.
std::vector<planner::Waterfall::Bar> merge_small_bars(const planner::Waterfall& fall) {
  std::vector<planner::Waterfall::Bar> kept, small;
  for (const planner::Waterfall::Bar& bar : fall.bars)
    (bar.share < kSmallBar ? small : kept).push_back(bar);
  if (small.size() < 2) return fall.bars;
  planner::Waterfall::Bar other{.name = "other", .computes = true};
  for (const planner::Waterfall::Bar& bar : small) {
    other.time += bar.time;
    other.share += bar.share;
    other.remark += (other.remark.empty() ? "" : ", ") + bar.name;
  }
  kept.push_back(other);
  return kept;
}

}  // namespace

std::string format_band(const cost::ErrorBand& band) {
  return fmt::format("±{}{}", percent(std::round(100 * band.within) / 100),
                     band.rows == 0 ? " assumed" : "");
}

std::string figures(const plan::TrainingConfig& config, const cost::Estimate& e) {
  std::string text = fmt::format(
      "step {} {}   {} tokens/s/GPU   MFU {}", show(e.time()), format_band(e.step_band),
      format_short_count(cost::tokens_per_second(config, e.time())), format_mfu(config, e.time()));
  return text + fmt::format("   {} on PP rank {}{}", show_memory(e.memory.total(), e.capacity),
                            e.memory.pp_rank, name_assumed_model(config));
}

std::string render_waterfall_text(const planner::Waterfall& fall, const Paint& paint,
                                  std::size_t width) {
  const std::vector<planner::Waterfall::Bar> bars = merge_small_bars(fall);
  Seconds longest{};
  for (const planner::Waterfall::Bar& bar : bars) longest = std::max(longest, bar.time);
  std::vector<BarLine> lines;
  for (const planner::Waterfall::Bar& bar : bars)
    lines.push_back({.name = bar.name,
                     .fraction = bar.time / longest,
                     .figures = {show(bar.time), format_share(bar.share)},
                     .remark = bar.remark,
                     .tone = bar.computes ? BarLine::Tone::work : BarLine::Tone::wait});
  return draw_bar_lines(lines, paint, width);
}

Table make_waterfall_table(const planner::Waterfall& fall) {
  Table table{{{"item"},
               {"time", Table::Align::right},
               {"share", Table::Align::right},
               {"origin"},
               {"remark"}}};
  for (const planner::Waterfall::Bar& bar : fall.bars)
    table.rows.push_back({bar.name, show(bar.time), format_share(bar.share),
                          std::string(name(bar.origin)), bar.remark});
  return table;
}

}  // namespace rankwright::report
