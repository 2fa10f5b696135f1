#include "rankwright/report/explain/explain_text.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/explain/plan_summary.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/grid.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/section.h"

namespace rankwright::report {
namespace {

constexpr std::string_view kOrigins =
    "Calls and bytes are exact for this plan; bandwidths and peaks are those of the catalog. Rates "
    "of compute and collectives are calibrated on published runs (rankwright validate), nine of "
    "ten of which are within the error band. Latencies and the overlap of sends and all-to-alls "
    "are assumed.";

/// Says why the times of the communication table do not add up to those of the step.
std::string describe_communication(const plan::TrainingConfig& config) {
  return config.plan.pp == 1 ? ""
                             : "Each row is of the PP rank on which it takes longest; the step "
                               "above has the average of the PP ranks.";
}

Table make_axis_table(const planner::ExplainView& view) {
  Table table{{{"axis"}, {"degree"}, {"placement"}, {"reason"}}};
  for (const planner::AxisRow& row : view.axes)
    table.rows.push_back({row.axis, row.degree, row.placement, row.reason});
  return table;
}

/// Lists how often each collective runs, the link that it needs, and what goes wrong on another.
Table make_risk_table(const planner::ExplainView& view) {
  Table table{{{"communication"}, {"frequency"}, {"preferred link"}, {"risk"}}};
  for (const planner::CommunicationRow& c : view.communication) {
    const plan::TrafficKindRow& kind = row(c.evaluated.traffic.kind);
    table.rows.push_back({std::string(kind.label), std::string(kind.frequency), c.preferred,
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
  Table table{{{"not stated"}, {"assumed"}, {"because"}}};
  for (const plan::Assumption& a : config.assumed) table.rows.push_back({a.key, a.value, a.why});
  return table;
}

/// Describes the estimate and the tables of a plan, everything below its summary.
std::vector<Section> make_sections(const plan::TrainingConfig& config,
                                   const planner::ExplainView& view) {
  const cost::Estimate& e = view.estimate;
  std::vector<Section> all{{.heading = "Step",
                            .text = figures(config, e),
                            .table = make_waterfall_table(view.waterfall),
                            .drawing =
                                [&view](const Paint& paint, std::size_t width) {
                                  return render_waterfall_text(view.waterfall, paint, width);
                                },
                            .strong = true}};
  all.push_back({.heading = "Memory",
                 .caption = write_memory_title(e.memory, e.capacity, e.memory_band),
                 .table = make_memory_table(e.memory, e.capacity),
                 .drawing =
                     [&e](const Paint& paint, std::size_t width) {
                       return render_memory_text(e.memory, e.capacity, e.memory_band, paint, width);
                     },
                 .note = format_totals(view.totals)});
  all.push_back({.heading = "Axes", .table = make_axis_table(view)});
  all.push_back({.heading = "Communication",
                 .text = describe_communication(config),
                 .table = make_communication_table(view.communication)});
  all.push_back({.heading = "Risks", .table = make_risk_table(view)});
  all.push_back({.heading = "States", .table = make_state_table(view)});
  all.push_back(
      {.heading = "Ranks",
       .drawing = [&config](const Paint& paint,
                            std::size_t width) { return draw_rank_grid(config, paint, width); },
       .fenced = true});
  all.push_back({.heading = "Assumed", .table = make_assumed_table(config)});
  return all;
}

}  // namespace

Table make_communication_table(std::span<const planner::CommunicationRow> rows) {
  Table table{{{"communication"},
               {"calls", kRight},
               {"bytes", kRight},
               {"link"},
               {"groups per link", kRight, true},
               {"exposed", kRight},
               {"overlapped", kRight},
               {"total", kRight}}};
  for (const planner::CommunicationRow& c : rows) {
    const plan::TrafficKindRow& kind = row(c.evaluated.traffic.kind);
    table.rows.push_back({std::string(kind.label), count(c.evaluated.traffic.calls),
                          show(c.evaluated.traffic.bytes()), c.level, count(c.evaluated.sharers),
                          show(c.exposed), show(c.overlapped), show(c.evaluated.total)});
  }
  return table;
}

std::string render_explain_text(const plan::TrainingConfig& config,
                                const planner::ExplainView& view, const Paint& paint,
                                std::size_t width) {
  return make_bold(break_lines(format_headline(config), " · ", " ·", width, ""), paint) + "\n" +
         break_lines(format_degree_tags(config), " · ", " ·", width, "  ") + "\n" +
         wrap_text(describe_plan(config, view), width - 4, "  ") + "\n" +
         render_sections_text(make_sections(config, view), paint, width) +
         wrap_text(kOrigins, width - 2, "");
}

std::string render_explain_markdown(const plan::TrainingConfig& config,
                                    const planner::ExplainView& view) {
  return "# " + escape_markdown(format_headline(config)) + "\n\n" +
         escape_markdown(format_degree_tags(config)) + "\n\n" +
         escape_markdown(describe_plan(config, view)) + "\n\n" +
         render_explain_tables(config, view);
}

std::string render_explain_tables(const plan::TrainingConfig& config,
                                  const planner::ExplainView& view) {
  return render_sections_markdown(make_sections(config, view)) + std::string(kOrigins) + "\n";
}

}  // namespace rankwright::report
