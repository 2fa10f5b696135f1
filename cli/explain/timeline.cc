#include "cli/explain/timeline.h"

#include <fmt/format.h>

#include <ostream>

#include "cli/io/print_refusal.h"
#include "rankwright/base/format.h"
#include "rankwright/planner/explain_timeline.h"
#include "rankwright/program/cells.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/gantt.h"
#include "rankwright/report/timeline/timeline_json.h"
#include "rankwright/report/timeline/timeline_svg.h"
#include "rankwright/report/timeline/trace.h"

namespace rankwright::cli {
namespace {

/// Writes the chart and the requested files. Returns the exit code.
int draw(const planner::SummarizedStep& of, const std::string& heading, const TimelineFlags& flags,
         bool markdown, const Options& options, const Io& io) {
  const planner::SimulatedStep& step = of.simulated;
  const planner::TimelineSummary& sum = of.summary;
  if (!flags.svg.empty())
    if (const int failed =
            options.save(report::draw_timeline_svg(step, sum, heading), flags.svg, io))
      return failed;
  if (!flags.csv.empty())
    if (const int failed = options.save(program::show_cells(step.program.roles), flags.csv, io))
      return failed;
  if (!flags.trace.empty())
    if (const int failed =
            options.save_bytes(report::write_trace(flags.trace, of), flags.trace, io))
      return failed;
  if (options.json()) return options.write(report::make_timeline_json(step, sum, heading), io);
  const report::Paint paint = markdown ? report::Paint{} : options.paint(io);
  const std::string chart = draw_gantt(step, sum, paint, io.width);
  return options.write(markdown ? "# " + heading + "\n\n```text\n" + chart + "```\n"
                                : paint.bold(heading) + "\n\n" + chart,
                       io);
}

}  // namespace

void TimelineFlags::add_to(Options& options) {
  options.add_switch("--timeline", timeline, "draw the actions of each PP rank over time");
  options.add("--svg", svg, "draw the timeline, the sweep or a collective to this file")
      .type_name("FILE");
  options.add("--trace", trace, "write a trace: .json for Chrome, otherwise Perfetto")
      .type_name("FILE");
  options.add("--csv", csv, "write the schedule's actions in torchtitan's format")
      .type_name("FILE");
  options.add_switch("--unit-times", unit_times,
                     "one time unit per forward, input-gradient and weight-gradient action");
}

int show_timeline(const PlanFlags& plan, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io) {
  const planner::Outcome<planner::TimelineAnswer> answer = planner::explain_timeline(
      {.plan = plan.source(io), .unit_times = flags.unit_times, .traced = !flags.trace.empty()});
  if (!answer) return print_refusal("explain", answer.error(), io);
  const std::string heading = report::format_headline(answer->plan.config());
  if (const int failed = draw(answer->step, heading, flags, markdown, options, io)) return failed;
  return print_finding_counts(answer->plan, options.quiet(), io);
}

int show_schedule(const planner::SourceFile& file, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io) {
  const planner::Outcome<planner::SummarizedStep> step =
      explain_schedule(file, !flags.trace.empty());
  if (!step) return print_refusal("explain", step.error(), io);
  return draw(*step, file.name, flags, markdown, options, io);
}

}  // namespace rankwright::cli
