#include "rankwright/report/explain/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/bars.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

constexpr double kSmallEntry = 0.002;  // of the device's memory; smaller items are merged
constexpr std::size_t kRuns = 6;       // maximum number of runs of equal pp ranks in one line

/// One bar of the chart: an item, or several small ones merged.
struct MemoryItem {
  std::string name{}, meaning{};
  Bytes bytes{};
};

std::vector<MemoryItem> merge_small_items(const cost::MemoryEstimate& memory, Bytes capacity) {
  std::vector<MemoryItem> kept, small;
  for (const cost::EntryRow& of : cost::entries()) {
    const Bytes held = memory[of.entry];
    if (held <= Bytes{}) continue;
    (held < kSmallEntry * capacity ? small : kept)
        .push_back({std::string(of.name), std::string(of.meaning), held});
  }
  if (small.size() < 2) {
    kept.insert(kept.end(), small.begin(), small.end());
    return kept;
  }
  MemoryItem other{.name = "other"};
  for (const MemoryItem& one : small) {
    other.bytes += one.bytes;
    other.meaning += (other.meaning.empty() ? "" : ", ") + one.name;
  }
  kept.push_back(other);
  return kept;
}

}  // namespace

std::string_view words(cost::Instant instant) {
  switch (instant) {
    case cost::Instant::backward:
      return "in the backward of a layer";
    case cost::Instant::loss:
      return "at the loss";
    case cost::Instant::embedding:
      return "at the embedding's gradient";
    case cost::Instant::update:
      return "in the optimizer's step";
  }
  return {};
}

std::string write_memory_title(const cost::MemoryEstimate& memory, Bytes capacity,
                               const cost::ErrorBand& band) {
  return "memory of " + summarize_memory(memory, capacity, band);
}

std::string summarize_memory(const cost::MemoryEstimate& memory, Bytes capacity,
                             const cost::ErrorBand& band) {
  const Bytes total = memory.total();
  return fmt::format("PP rank {} {}: {} {}, {}", memory.pp_rank, words(memory.instant),
                     show_memory(total, capacity), format_band(band),
                     name(cost::judge_memory(total, capacity, band.within)));
}

std::string render_memory_text(const cost::MemoryEstimate& memory, Bytes capacity,
                               const cost::ErrorBand& band, const Paint& paint, std::size_t width) {
  const Bytes total = memory.total();
  const Bytes longest = std::max(total, capacity);
  const auto line = [&](std::string name, Bytes bytes, std::string remark, BarLine::Tone tone) {
    return BarLine{.name = std::move(name),
                   .fraction = bytes / longest,
                   .figures = {show_memory(bytes), format_share(bytes / capacity)},
                   .remark = std::move(remark),
                   .tone = tone};
  };
  std::vector<BarLine> lines;
  for (const MemoryItem& one : merge_small_items(memory, capacity))
    lines.push_back(line(one.name, one.bytes, one.meaning, BarLine::Tone::work));
  lines.push_back(line("total", total, rules::describe_memory_verdict(total, capacity, band),
                       BarLine::Tone::total));
  lines.push_back(line("device", capacity, "usable memory", BarLine::Tone::total));
  if (memory.host > Bytes{}) {
    lines.push_back(line("host", memory.host, "offloaded, per rank", BarLine::Tone::total));
    lines.back().fraction = std::min(1.0, lines.back().fraction);
  }
  if (memory.nvme > Bytes{}) {
    lines.push_back(line("NVMe", memory.nvme, "offloaded, per rank", BarLine::Tone::total));
    lines.back().fraction = std::min(1.0, lines.back().fraction);
  }
  return paint.bold(write_memory_title(memory, capacity, band)) + "\n" +
         draw_bar_lines(lines, paint, width);
}

Table make_memory_table(const cost::MemoryEstimate& memory, Bytes capacity) {
  Table table{{{"entry"},
               {"bytes", Table::Align::right},
               {"of the device", Table::Align::right},
               {"origin"},
               {"meaning"},
               {"formula"}}};
  for (const cost::EntryRow& of : cost::entries())
    if (const Bytes held = memory[of.entry]; held > Bytes{})
      table.rows.push_back(
          {std::string(of.name), show_memory(held), format_share(held / capacity),
           std::string(of.origin == cluster::Origin::data_sheet ? "counted" : name(of.origin)),
           std::string(of.meaning), std::string(of.formula)});
  return table;
}

std::string format_totals(std::span<const Bytes> totals) {
  if (totals.size() < 2) return {};
  struct RankRun {
    std::size_t first, last;
    std::string text;
  };
  std::vector<RankRun> runs;
  for (std::size_t r = 0; r < totals.size(); ++r) {
    const std::string text = show_memory(totals[r]);
    if (!runs.empty() && runs.back().text == text)
      runs.back().last = r;
    else
      runs.push_back({r, r, text});
  }
  if (runs.size() > kRuns) {
    // The first of equal ranks, as in the estimate.
    const auto min = std::min_element(totals.begin(), totals.end());
    const auto max = std::max_element(totals.begin(), totals.end());
    return fmt::format("{} PP ranks: least {} on {}, most {} on {}, last {}", totals.size(),
                       show_memory(*min), min - totals.begin(), show_memory(*max),
                       max - totals.begin(), show_memory(totals.back()));
  }
  std::string out = "by PP rank: ";
  for (const RankRun& run : runs) {
    if (&run != &runs.front()) out += ", ";
    out += run.first == run.last ? fmt::format("{} has {}", run.first, run.text)
                                 : fmt::format("{}-{} have {}", run.first, run.last, run.text);
  }
  return out;
}

}  // namespace rankwright::report
