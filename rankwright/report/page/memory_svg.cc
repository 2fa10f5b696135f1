#include "rankwright/report/page/memory_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/report/render/chart.h"
#include "rankwright/report/timeline/timeline_drawing.h"

namespace rankwright::report {
namespace {

constexpr i64 kMaxBars = 128, kMaxNamed = 32;
constexpr double kRankNames = 62, kTotals = 84;  // pixels at the left and at the right
constexpr std::size_t kLegendColumns = 3;        // number of columns
constexpr double kFarLimit = 16;  // a limit beyond this many times the longest bar is not drawn

/// The colors of the items, those of web/src/palette.ts: states are green, activations and what a
/// step allocates red and brown, overheads gray. All have a contrast of 3 : 1 on light and dark.
struct EntryColor {
  cost::Entry entry;
  Rgb color;
};
constexpr EntryColor kEntryColors[] = {
    {cost::Entry::parameters, {0x0F, 0x8A, 0x80}},
    {cost::Entry::gradients, {0x4F, 0x8F, 0x5B}},
    {cost::Entry::optimizer, {0x7D, 0x8A, 0x1F}},
    {cost::Entry::reference, {0x2F, 0x86, 0x6A}},
    {cost::Entry::activations, {0xC4, 0x50, 0x6E}},
    {cost::Entry::recomputed_layer, {0xA8, 0x60, 0x7F}},
    {cost::Entry::layer_gradients, {0x9A, 0x6F, 0xB0}},
    {cost::Entry::logits, {0xB3, 0x70, 0x3A}},
    {cost::Entry::head_gradient, {0xA5, 0x71, 0x4F}},
    {cost::Entry::embedding_gradient, {0x94, 0x77, 0x5F}},
    {cost::Entry::gathered_units, {0x8F, 0x6F, 0xC4}},
    {cost::Entry::weight_copies, {0x5F, 0x8A, 0x9E}},
    {cost::Entry::reduce_scatter, {0x7B, 0x76, 0xB5}},
    {cost::Entry::sequence_gather, {0x6A, 0x7D, 0xB0}},
    {cost::Entry::empty_gradients, {0x8A, 0x7A, 0x3A}},
    {cost::Entry::buckets, {0x7F, 0x80, 0x48}},
    {cost::Entry::rotary_tables, {0x6B, 0x86, 0x5A}},
    {cost::Entry::optimizer_temporaries, {0x9A, 0x8E, 0x2E}},
    {cost::Entry::workspace, {0x6F, 0x7A, 0x83}},
    {cost::Entry::graph_pool, {0x73, 0x7D, 0x86}},
    {cost::Entry::reserve, {0x77, 0x81, 0x8A}},
    {cost::Entry::context, {0x7F, 0x86, 0x8C}},
    {cost::Entry::dispatch_buffers, {0x7A, 0x88, 0x94}},
    {cost::Entry::communicators, {0x86, 0x8B, 0x90}},
};
static_assert(std::size(kEntryColors) == cost::kEntries);

class MemoryDrawing {
 public:
  explicit MemoryDrawing(const planner::PlanReport& report)
      : rank_memory_(report.memory_per_pp_rank),
        estimate_(report.explain_view.estimate),
        device_(report.config.cluster.device.name),
        contents_(list_rank_contents(report.config)),
        ranks_(select_ranks(report)),
        chart_(report.config, "memory by PP rank", describe_fullest(report)) {
    Bytes max{};
    for (const cost::MemoryEstimate& memory : rank_memory_)
      max = std::max(max, (1 + estimate_.memory_band.within) * memory.total());
    limit_drawn_ = estimate_.capacity <= kFarLimit * max;
    if (limit_drawn_) max = std::max(max, estimate_.capacity);
    while (max >= 1024 * unit_) unit_ = 1024 * unit_;
    x_ = {.high = 1.01 * (max / unit_),
          .from = kChartMargin + kRankNames,
          .to = kChartRight - kTotals};
    const std::size_t rows = ranks_.size();
    pitch_ = rows <= 4 ? 36 : rows <= 16 ? 27 : rows <= 32 ? 20 : rows <= 64 ? 11 : 7;
    bar_ = pitch_ - (rows <= 32 ? 6 : rows <= 64 ? 3 : 1);
    for (const cost::EntryRow& of : cost::entries())
      if (std::any_of(rank_memory_.begin(), rank_memory_.end(),
                      [&](const cost::MemoryEstimate& l) { return l[of.entry] > Bytes{}; }))
        used_.push_back(of.entry);
    for (std::size_t k = 0; k < used_.size(); ++k)
      chart_.css += fmt::format(".{}{{fill:{}}}", fill(k), hex(color(k)));
  }

  std::string render() {
    draw_axis();
    for (std::size_t i = 0; i < ranks_.size(); ++i) draw_row(i);
    draw_limit();
    draw_legend();
    return chart_.text();
  }

 private:
  /// Selects the pp ranks to draw; a sample includes the fullest.
  static std::vector<i64> select_ranks(const planner::PlanReport& report) {
    std::vector<i64> ranks = select_ranks_to_draw(i64(report.memory_per_pp_rank.size()), kMaxBars);
    *std::lower_bound(ranks.begin(), ranks.end(), report.explain_view.estimate.memory.pp_rank) =
        report.explain_view.estimate.memory.pp_rank;
    return ranks;
  }

  static std::string describe_fullest(const planner::PlanReport& report) {
    const cost::Estimate& e = report.explain_view.estimate;
    return "The fullest is " + summarize_memory(e.memory, e.capacity, e.memory_band) + ".";
  }

  double x(Bytes bytes) const { return x_.at(bytes / unit_); }
  const Rgb& color(std::size_t k) const { return kEntryColors[std::size_t(used_[k])].color; }
  static std::string fill(std::size_t k) { return fmt::format("m{}", k); }
  /// Returns the letter that identifies an item where colors cannot be seen.
  static std::string letter(std::size_t k) { return std::string(1, char('a' + k)); }

  void draw_axis() {
    chart_.y += 20;
    top_ = chart_.y + 8;
    bottom_ = top_ + pitch_ * double(ranks_.size());
    chart_.write(kChartRight, chart_.y, "e q", "total");
    const double edge = limit_drawn_ ? x(estimate_.capacity) : x_.to;
    chart_.body += svg::rect(edge, top_, x_.to - edge, bottom_ - top_, "w") + "/>\n";
    for (const double tick : ticks(x_, 10)) {
      chart_.write(x_.at(tick), bottom_ + 18, "m q", tick == 0 ? "0" : show_memory(tick * unit_));
      chart_.body += svg::line(x_.at(tick), top_, x_.at(tick), bottom_ + 4, "t");
    }
    // The side with more room: left of the limit, or right of it if the bars are far longer.
    const bool right = edge - x_.from < x_.to - edge;
    chart_.write(right ? edge + 6 : edge - 6, chart_.y, right ? "n" : "e n",
                 fitted(fmt::format("{} has {}{}", device_, show_memory(estimate_.capacity),
                                    limit_drawn_ ? "" : ", far to the right"),
                        (right ? x_.to - edge : edge - x_.from) - 6, "n"));
    chart_.y = top_;
  }

  bool is_named(std::size_t i) const {
    const std::size_t left = ranks_.size() - i - 1;
    return i64(ranks_.size()) <= kMaxNamed || left == 0 || (i % 8 == 0 && left >= 8);
  }

  void draw_row(std::size_t i) {
    const cost::MemoryEstimate& memory = rank_memory_[std::size_t(ranks_[i])];
    const double top = chart_.y + (pitch_ - bar_) / 2, baseline = top + bar_ / 2 + 4.5;
    const bool fullest = memory.pp_rank == estimate_.memory.pp_rank;
    const double error_begin = x((1 - estimate_.memory_band.within) * memory.total());
    Bytes begin{};
    for (std::size_t k = 0; k < used_.size(); ++k) {
      const Bytes held = memory[used_[k]];
      if (held <= Bytes{}) continue;
      const double left = x(begin), width = x(begin + held) - left;
      chart_.body += svg::rect(left, top, width, bar_, fill(k));
      chart_.body += svg::titled(
          "rect", fmt::format("PP rank {}: {} {}, {} of the device", memory.pp_rank, name(used_[k]),
                              show_memory(held), format_share(held / estimate_.capacity)));
      if (bar_ >= 12 && width >= 14 && !(fullest && left + width / 2 + 6 > error_begin))
        chart_.write(left + width / 2, top + bar_ / 2 + 4,
                     fmt::format("m s {}", choose_text_class(color(k))), letter(k));
      begin += held;
    }
    if (fullest) draw_error(memory.total(), top + bar_ / 2);
    if (is_named(i)) {
      chart_.write(x_.from - 8, baseline, "e", fmt::format("pp {}", memory.pp_rank));
      chart_.write(kChartRight, baseline, memory.total() > estimate_.capacity ? "e n" : "e",
                   show_memory(memory.total()));
    }
    chart_.y += pitch_;
  }

  void draw_error(Bytes total, double middle) {
    const double within = estimate_.memory_band.within;
    const double low = x((1 - within) * total), high = x((1 + within) * total);
    const double reach = std::min(6.0, bar_ / 2);
    chart_.body += svg::rect(low, middle - 1.5, high - low, 3, "g") + "/>\n";
    chart_.body += svg::line(low, middle, high, middle, "p");
    for (const double end : {low, high})
      chart_.body += svg::line(end, middle - reach, end, middle + reach, "p");
  }

  void draw_limit() {
    const double edge = x(estimate_.capacity);
    if (limit_drawn_) chart_.body += svg::line(edge, top_ - 20, edge, bottom_, "l");
    chart_.y = bottom_ + 46;
  }

  /// Writes the items in the order of the bars, column by column.
  void draw_legend() {
    const cost::MemoryEstimate& fullest = estimate_.memory;
    chart_.write(
        kChartMargin, chart_.y, "q",
        fitted(
            fmt::format("Entries from left to right, as on PP rank {} ({}); the line at the "
                        "end of its bar is the error, {}.{}",
                        fullest.pp_rank, describe_contents(contents_[std::size_t(fullest.pp_rank)]),
                        format_band(estimate_.memory_band), describe_sample()),
            kChartRight - kChartMargin));
    chart_.y += kChartLine + 4;
    constexpr double kWide = (kChartRight - kChartMargin) / double(kLegendColumns);
    const std::size_t rows = (used_.size() + kLegendColumns - 1) / kLegendColumns;
    for (std::size_t k = 0; k < used_.size(); ++k) {
      const std::size_t column = k / rows;
      const double left = kChartMargin + kWide * double(column);
      const double baseline = chart_.y + kChartLine * double(k % rows);
      chart_.body += svg::rect(left, baseline - 11, 18, 14, fill(k) + " key") + "/>\n";
      chart_.write(left + 9, baseline, fmt::format("m s {}", choose_text_class(color(k))),
                   letter(k));
      chart_.write(left + 25, baseline, "q", name(used_[k]));
      const Bytes held = fullest[used_[k]];
      chart_.write(left + kWide - 36, baseline, "e", held > Bytes{} ? show_memory(held) : "-");
    }
    chart_.y += kChartLine * double(rows) + 4;
  }

  std::string describe_sample() const {
    if (ranks_.size() == rank_memory_.size()) return {};
    return fmt::format(" {} of {} PP ranks are drawn.", ranks_.size(),
                       count(i64(rank_memory_.size())));
  }

  const std::vector<cost::MemoryEstimate>& rank_memory_;
  const cost::Estimate& estimate_;
  const std::string& device_;
  std::vector<plan::RankContents> contents_;
  std::vector<i64> ranks_;
  std::vector<cost::Entry> used_{};
  Chart chart_;
  Scale x_{};  // in unit_, so that its ticks are round
  Bytes unit_{1};
  bool limit_drawn_ = true;
  double pitch_ = 0, bar_ = 0;
  double top_ = 0, bottom_ = 0;
};

}  // namespace

std::string draw_memory_svg(const planner::PlanReport& report) {
  return MemoryDrawing(report).render();
}

}  // namespace rankwright::report
