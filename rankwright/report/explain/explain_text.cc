#include "rankwright/report/explain/explain_text.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/explain/plan_summary.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/grid.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr std::string_view kOrigins =
    "Counts and bytes are exact for this plan, bandwidths and peaks the catalog's. Rates of "
    "compute "
    "and of collectives are calibrated on published runs (rankwright validate); nine of ten of "
    "those "
    "lie within the band. Latencies, and which part of sends and all-to-alls is hidden, are "
    "assumed. "
    "The table's times are those of calls one after another, hidden or not.";

Table make_axis_table(const planner::ExplainView& view) {
  Table table{{{"axis"}, {"degree"}, {"placement"}, {"reason"}}};
  for (const planner::AxisRow& row : view.axes)
    table.rows.push_back({row.axis, row.degree, row.placement, row.reason});
  return table;
}

Table make_communication_table(const planner::ExplainView& view) {
  Table table{{{"communication"},
               {"frequency"},
               {"calls", kRight},
               {"bytes", kRight},
               {"preferred"},
               {"level"},
               {"groups/link", kRight},
               {"time", kRight},
               {"risk"}}};
  for (const planner::CommunicationRow& c : view.communication) {
    const plan::TrafficKindRow& kind = row(c.priced.traffic.kind);
    table.rows.push_back({std::string(kind.label), std::string(kind.frequency),
                          count(c.priced.traffic.calls), show(c.priced.traffic.bytes()),
                          c.preferred, c.level, count(c.priced.sharers), show(c.priced.total),
                          std::string(kind.risk)});
  }
  return table;
}

Table make_state_table(const planner::ExplainView& view) {
  Table table{{{"state"},
               {"TP"},
               {"PP"},
               {"CP"},
               {"DP"},
               {"EP"},
               {"kept consistent by"},
               {"critical path"}}};
  for (const planner::StateRow& s : view.states)
    table.rows.push_back({s.state, s.tp, s.pp, s.cp, s.dp, s.ep, s.consistent, s.critical});
  return table;
}

Table make_assumed_table(const plan::TrainingConfig& config) {
  Table table{{{"left open"}, {"assumed"}, {"because"}}};
  for (const plan::Assumption& a : config.assumed) table.rows.push_back({a.key, a.value, a.why});
  return table;
}

/// Writes the step as bars and, if a model is given, the memory of the fullest rank.
std::string write_estimate_text(const plan::TrainingConfig& config,
                                const planner::ExplainView& view, const Paint& paint,
                                std::size_t width) {
  const cost::Estimate& e = view.estimate;
  std::string out = paint.bold("  " + figures(config, e)) + "\n\n";
  out += waterfall_text(view.waterfall, paint, width);
  if (config.reference_model) return out;
  out += "\n" + memory_text(e.memory, e.capacity, e.memory_band, paint, width);
  const std::string others = totals_text(view.totals);
  return others.empty() ? out : out + "  " + others + "\n";
}

std::string write_estimate_markdown(const plan::TrainingConfig& config,
                                    const planner::ExplainView& view) {
  const cost::Estimate& e = view.estimate;
  std::string out = "## Step\n\n" + markdown_text(figures(config, e)) + "\n\n";
  out += waterfall_table(view.waterfall).markdown() + "\n";
  if (config.reference_model) return out;
  out += "## Memory\n\n" + memory_title(e.memory, e.capacity, e.memory_band) + "\n\n";
  out += memory_table(e.memory, e.capacity).markdown() + "\n";
  const std::string others = totals_text(view.totals);
  return others.empty() ? out : out + others + "\n\n";
}

}  // namespace

std::string explain_text(const plan::TrainingConfig& config, const planner::ExplainView& view,
                         const Paint& paint, std::size_t width) {
  std::string out = paint.bold(headline(config)) + "\n\n  " + degree_tags(config) + "\n\n";
  out += wrapped(describe_plan(config, view), width - 4, "  ") + "\n";
  out += write_estimate_text(config, view, paint, width) + "\n";
  out += make_axis_table(view).text(paint) + "\n";
  out += make_communication_table(view).text(paint) + "\n";
  out += make_state_table(view).text(paint) + "\n";
  out += rank_grid(config, paint, width) + "\n";
  if (!config.assumed.empty()) out += make_assumed_table(config).text(paint) + "\n";
  return out + wrapped(kOrigins, width - 2, "");
}

std::string explain_markdown(const plan::TrainingConfig& config, const planner::ExplainView& view) {
  return "# " + markdown_text(headline(config)) + "\n\n" + markdown_text(degree_tags(config)) +
         "\n\n" + markdown_text(describe_plan(config, view)) + "\n\n" +
         worksheet_markdown(config, view);
}

std::string worksheet_markdown(const plan::TrainingConfig& config,
                               const planner::ExplainView& view) {
  std::string out = write_estimate_markdown(config, view);
  out += "## Axes\n\n" + make_axis_table(view).markdown() + "\n";
  out += "## Communication\n\n" + make_communication_table(view).markdown() + "\n";
  out += "## States\n\n" + make_state_table(view).markdown() + "\n";
  constexpr std::size_t kPageWidth = 100;
  out += "## Ranks\n\n" + markdown_block("text", rank_grid(config, Paint{}, kPageWidth)) + "\n";
  if (!config.assumed.empty())
    out += "## Assumed\n\n" + make_assumed_table(config).markdown() + "\n";
  return out + std::string(kOrigins) + "\n";
}

}  // namespace rankwright::report
