#include "rankwright/report/page/report_timeline_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "rankwright/report/timeline/timeline_json.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

constexpr i64 kMaxJsonRows = 128;            // a sample of more pp ranks is drawn
constexpr std::size_t kJsonColumns = 320;    // per row, if there are too many cells
constexpr std::size_t kMaxJsonRuns = 4'000;  // maximum length of the critical path

/// Returns the largest power of ten of a second that divides the step into at least a million
/// ticks.
Seconds choose_tick(Seconds end) {
  if (end.value <= 0) return 1.0_s;
  return Seconds{std::pow(10.0, std::floor(std::log10(end.value)) - 6)};
}

i64 to_ticks(Seconds time, Seconds tick) { return i64(std::llround(time / tick)); }

/// A list of distinct names.
class Names {
 public:
  /// Returns the index of a name, and adds it if it is new.
  std::size_t index_of(const std::string& name) {
    for (std::size_t k = 0; k < all_.size(); ++k)
      if (all_[k] == name) return k;
    all_.push_back(name);
    return all_.size() - 1;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_{};
};

ordered_json make_event_json(const planner::SimulatedStep& p, i64 rank, const program::Event& e,
                             Seconds tick, Names& steps) {
  const i64 begin = to_ticks(e.start, tick);
  const i64 length = to_ticks(e.end, tick) - begin;
  const std::size_t kind = std::size_t(planner::classify_event(p.program, rank, e.action));
  if (is_cell(e.action.kind))
    return {begin,          length,
            kind,           find_shade(p.shape, rank, e.action),
            e.action.stage, e.action.microbatch};
  return {begin, length,
          kind,  planner::is_beside(p.program, rank, e.action) ? 1 : 0,
          -1,    steps.index_of(name_event(p.program, rank, e.action))};
}

ordered_json make_rows_json(const planner::SimulatedStep& p, const std::vector<i64>& ranks,
                            Seconds tick, Names& steps) {
  ordered_json rows = ordered_json::array();
  for (const i64 rank : ranks) {
    ordered_json line = ordered_json::array();
    for (const program::Event& e : events(p, rank))
      if (!is_transfer(e.action.kind)) line.push_back(make_event_json(p, rank, e, tick, steps));
    rows.push_back({{"pp_rank", rank}, {"events", std::move(line)}});
  }
  return rows;
}

/// Returns the kind of work with this category in a trace; unknown categories are drawn as
/// collectives.
planner::EventKind find_event_kind(std::string_view category) {
  for (std::size_t k = 0; k < planner::kEventKinds; ++k)
    if (row(planner::EventKind(k)).category == category) return planner::EventKind(k);
  return planner::EventKind::collective;
}

ordered_json make_slice_json(const pipeline::PipelineShape& shape, i64 rank,
                             const importer::TraceSlice& slice, Seconds tick, Names& steps) {
  const i64 begin = to_ticks(slice.begin, tick);
  const i64 length = to_ticks(slice.end, tick) - begin;
  const std::size_t kind = std::size_t(find_event_kind(slice.category));
  if (slice.cell)
    return {begin,
            length,
            kind,
            find_shade(shape, rank, *slice.cell),
            slice.cell->stage,
            slice.cell->microbatch};
  return {begin, length, kind, slice.beside ? 1 : 0, -1, steps.index_of(slice.name)};
}

/// Lists shares in percent, which keeps the document short.
ordered_json make_columns_json(const planner::SimulatedStep& p, const std::vector<i64>& ranks) {
  ordered_json rows = ordered_json::array();
  for (const i64 rank : ranks) {
    ordered_json line = ordered_json::array();
    for (const Column& column : columns(p, rank, kJsonColumns)) {
      ordered_json shares = ordered_json::array();
      for (const double share : column.share) shares.push_back(std::lround(100 * share));
      line.push_back(std::move(shares));
    }
    rows.push_back(std::move(line));
  }
  return {{"count", kJsonColumns}, {"rows", std::move(rows)}};
}

/// Lists the kinds of work with the colors of a rank's chunks, first chunk first.
ordered_json make_kinds_json(i64 chunks) {
  ordered_json all = ordered_json::array();
  for (std::size_t k = 0; k < planner::kEventKinds; ++k) {
    const EventColor& color = row(planner::EventKind(k));
    ordered_json colors = ordered_json::array();
    for (i64 chunk = 0; chunk < chunks; ++chunk)
      colors.push_back(hex(shade(planner::EventKind(k), chunk, chunks)));
    all.push_back(
        {{"name", color.name}, {"category", color.category}, {"colors", std::move(colors)}});
  }
  return all;
}

ordered_json make_path_json(const planner::TimelineSummary& summary, Seconds tick) {
  ordered_json path = ordered_json::array();
  if (summary.path.size() > kMaxJsonRuns) return path;
  for (const planner::CriticalPathRun& run : summary.path)
    path.push_back({run.pp_rank, to_ticks(run.begin, tick), to_ticks(run.end, tick)});
  return path;
}

constexpr std::size_t kMemoryParts = 160;  // per row

/// Returns the largest number of activations held in each of equal parts of a rank's step.
std::vector<i64> sample_held(const planner::SimulatedStep& p, i64 rank) {
  std::vector<i64> held(kMemoryParts, 0);
  const double width = p.timeline.end.value / double(kMemoryParts);
  if (!(width > 0)) return held;
  const auto part_of = [&](Seconds t) {
    return std::min(kMemoryParts - 1, std::size_t(std::max(0.0, t.value / width)));
  };
  i64 now = 0;
  std::size_t reached = 0;  // parts before it are complete
  const auto fill_to = [&](Seconds t) {
    for (const std::size_t end = part_of(t); reached < end;) {
      held[reached] = std::max(held[reached], now);
      ++reached;
    }
    held[reached] = std::max(held[reached], now);
  };
  for (const program::Event& e : events(p, rank)) {
    using Kind = pipeline::ActionKind;
    if (e.action.kind == Kind::forward) {
      fill_to(e.start);
      ++now;
      held[reached] = std::max(held[reached], now);
    } else if (e.action.kind == Kind::backward || e.action.kind == Kind::weight_grad) {
      fill_to(e.end);
      --now;
    }
  }
  fill_to(p.timeline.end);
  return held;
}

/// Lists the memory of each drawn rank over time: the activations that it holds, on top of all
/// other entries at their peak.
ordered_json make_memory_series_json(const planner::PlanReport& report,
                                     const std::vector<i64>& ranks) {
  const planner::SimulatedStep& p = report.step->simulated;
  const Bytes unit = report.explain_view.estimate.capacity / 1000.0;
  if (report.memory_per_pp_rank.empty() || !(unit > Bytes{})) return nullptr;
  ordered_json rows = ordered_json::array();
  for (const i64 rank : ranks) {
    const cost::MemoryEstimate& memory = report.memory_per_pp_rank[std::size_t(rank)];
    const Bytes activations = memory[cost::Entry::activations];
    const double most =
        double(std::max<i64>(1, report.step->summary.ranks[std::size_t(rank)].held));
    ordered_json line = ordered_json::array();
    for (const i64 held : sample_held(p, rank))
      line.push_back(
          std::lround((memory.total() - activations + (double(held) / most) * activations) / unit));
    rows.push_back(std::move(line));
  }
  return {{"unit_bytes", unit.value}, {"count", kMemoryParts}, {"rows", std::move(rows)}};
}

}  // namespace

ordered_json make_timeline_report_json(const planner::PlanReport& report) {
  if (!report.step) return nullptr;
  const planner::SimulatedStep& p = report.step->simulated;
  const planner::TimelineSummary& sum = report.step->summary;
  const Seconds tick = choose_tick(sum.end);
  const bool each = can_draw_each(p.program, sum.cells);
  const std::vector<i64> ranks = select_ranks_to_draw(p.program.pp(), kMaxJsonRows);
  Names steps;
  ordered_json rows = ordered_json::array();
  if (each)
    rows = make_rows_json(p, ranks, tick, steps);
  else
    for (const i64 rank : ranks)
      rows.push_back({{"pp_rank", rank}, {"events", ordered_json::array()}});
  return {{"summary", make_timeline_document(p, sum, format_headline(report.config))},
          {"words", describe_drawn_step(report)},
          {"kinds", make_kinds_json(count_shades(p.shape))},
          {"steps", steps.all()},
          {"tick_seconds", tick.value},
          {"end", to_ticks(sum.end, tick)},
          {"rows", std::move(rows)},
          {"path", make_path_json(sum, tick)},
          {"memory", make_memory_series_json(report, ranks)},
          {"columns", each ? ordered_json(nullptr) : make_columns_json(p, ranks)}};
}

ordered_json make_measured_report_json(const planner::PlanReport& report) {
  if (!report.measured) return nullptr;
  const importer::RunTrace& run = *report.measured;
  const Seconds tick = choose_tick(run.end);
  Names steps;
  ordered_json rows = ordered_json::array();
  const std::vector<i64> ranks = select_ranks_to_draw(i64(run.ranks.size()), kMaxJsonRows);
  for (const i64 rank : ranks) {
    ordered_json line = ordered_json::array();
    if (can_be_drawn(run))
      for (const importer::TraceSlice& slice : run.ranks[std::size_t(rank)])
        line.push_back(
            make_slice_json(make_pipeline_shape(report.config), rank, slice, tick, steps));
    rows.push_back({{"pp_rank", rank}, {"events", std::move(line)}});
  }
  return {{"name", run.file},           {"words", describe_measurement(report)},
          {"tick_seconds", tick.value}, {"end", to_ticks(run.end, tick)},
          {"steps", steps.all()},       {"rows", std::move(rows)}};
}

}  // namespace rankwright::report
