#include "cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "cli/call.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/durations.h"
#include "rankwright/import/file.h"
#include "rankwright/program/cells.h"
#include "rankwright/program/expand.h"
#include "rankwright/program/schedule.h"
#include "rankwright/program/steps.h"
#include "rankwright/program/transfers.h"
#include "rankwright/report/gantt.h"
#include "rankwright/report/timeline_json.h"
#include "rankwright/report/timeline_svg.h"
#include "rankwright/report/trace.h"
#include "rankwright/report/words.h"
#include "rankwright/rules/proof_findings.h"

namespace rankwright::cli {
namespace {

constexpr i64 kMostCells = i64{1} << 25;  // about four gigabytes when played
constexpr i64 kManyCells = 2'000'000;     // takes long enough to say so

/// A batch with so few microbatches that `most` cells are not exceeded; each pp rank gets its even
/// share of them, which every schedule takes. Nothing where that is less than one round.
std::string smaller_batch(const Setup& setup, i64 most) {
  const PipelineShape shape = pipeline_shape(setup);
  const std::optional<i64> one = cell_count({shape.schedule, shape.pp, shape.chunks, 1});
  const i64 round = 2 * shape.pp;
  const i64 microbatches = one && *one > 0 ? most / *one / round * round : 0;
  const std::optional<i64> batch = product({microbatches, setup.plan.micro_batch, setup.plan.dp});
  if (microbatches <= 0 || !batch) return "a smaller pipeline";
  return fmt::format("job: {{global_batch: {}}}, which gives {} microbatches", *batch,
                     count(microbatches));
}

int too_many(const Setup& setup, i64 have, i64 most, std::string_view done, const Io& io) {
  io.err << fmt::format(
      "rankwright explain: the step has {} cells; at most {} can be {}\n  help: {}\n", count(have),
      count(most), done, smaller_batch(setup, most));
  return kRefused;
}

/// Nothing where the step is small enough to be played, and to be traced where that is asked for.
std::optional<int> refused(const Setup& setup, const TimelineFlags& flags, const Io& io) {
  const PipelineShape shape = pipeline_shape(setup);
  if (shape.stages() > kMostPlayedStages) {
    io.err << fmt::format(
        "rankwright explain: the pipeline has {} stages; at most {} can be played\n"
        "  help: a smaller pp_size or virtual_stages\n",
        count(shape.stages()), count(kMostPlayedStages));
    return kRefused;
  }
  const i64 cells = cell_count(shape).value_or(std::numeric_limits<i64>::max());
  if (cells > kMostCells) return too_many(setup, cells, kMostCells, "played", io);
  if (const Bytes need = expansion_bytes(setup); need > kMaxExpansion) {
    io.err << fmt::format(
        "rankwright explain: the step's actions and collectives take {}; at most {} can be played\n"
        "  help: fewer layers or a smaller cp_size: what is inside a cell takes the most\n",
        show(need), show(kMaxExpansion));
    return kRefused;
  }
  if (flags.trace.empty()) return std::nullopt;
  // The ranks' own steps are slices too.
  i64 most = kMostSlices;
  for (const Body& of_rank : steps(setup)) most -= i64(of_rank.size());
  if (cells > most) return too_many(setup, cells, std::max<i64>(most, 0), "written to a trace", io);
  return std::nullopt;
}

/// The chart, and the files besides.
int draw(const Played& step, const std::string& heading, const TimelineFlags& flags, bool markdown,
         const Options& options, const Io& io) {
  const TimelineSummary sum = summary(step);
  if (!flags.svg.empty())
    if (const int failed = options.save(timeline_svg(step, sum, heading), flags.svg, io))
      return failed;
  if (!flags.csv.empty())
    if (const int failed = options.save(show_cells(step.program.roles), flags.csv, io))
      return failed;
  if (!flags.trace.empty())
    if (const int failed =
            options.save(trace_for(flags.trace, step.program, all_events(step)), flags.trace, io))
      return failed;
  if (options.json()) return options.write(timeline_json(step, sum, heading), io);
  const Paint paint = markdown ? Paint{} : options.paint(io);
  const std::string chart = gantt(step, sum, paint, io.width);
  return options.write(markdown ? "# " + heading + "\n\n```text\n" + chart + "```\n"
                                : paint.bold(heading) + "\n\n" + chart,
                       io);
}

/// A shape that a written schedule can be drawn as: its chunks, round and round.
PipelineShape drawn_shape(const CheckedSchedule& s) {
  return {.pp = s.pp, .chunks = ceil_div(s.stages, s.pp), .microbatches = s.microbatches};
}

}  // namespace

void TimelineFlags::add_to(Options& options) {
  options.add_switch("--timeline", timeline, "draw what each pp rank does when");
  options.add("--svg", svg, "draw the timeline to this file").type_name("FILE");
  options.add("--trace", trace, "write a trace: .json for Chrome's viewer, else Perfetto's")
      .type_name("FILE");
  options.add("--csv", csv, "write the schedule's cells, as torchtitan reads them")
      .type_name("FILE");
  options.add_switch("--unit-times", unit_times,
                     "one unit of time for every forward, input and weight gradient");
}

int show_timeline(const Setup& setup, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io) {
  if (const std::optional<int> code = refused(setup, flags, io)) return *code;
  const i64 cells = cell_count(pipeline_shape(setup)).value_or(0);
  if (cells > kManyCells && !options.quiet())
    io.err << fmt::format("playing {} cells ...\n", count(cells));
  return draw(played(setup, flags.unit_times), headline(setup), flags, markdown, options, io);
}

int show_schedule(const std::string& file, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io) {
  const Result<std::string> text = read_file(file);
  const Result<WrittenSchedule> written =
      text ? parse_cells(*text, file) : Result<WrittenSchedule>(fail(text.error()));
  if (!written) {
    tell({written.error()}, file, text.value_or(""), io);
    return kUnreadable;
  }
  const CheckedSchedule checked = check_schedule(*written);
  if (!checked.findings.empty()) {
    tell(checked.findings, file, *text, io);
    return kRefused;
  }
  Program program =
      with_transfers(only_cells(written->ranks), checked.stages, checked.microbatches);
  if (const i64 cells = slice_count(program); !flags.trace.empty() && cells > kMostSlices) {
    io.err << fmt::format(
        "rankwright explain: the schedule has {} cells; at most {} can be written to a trace\n",
        count(cells), count(kMostSlices));
    return kRefused;
  }
  Durations times = alike(program, 1.0_s, 1.0_s, 1.0_s);
  Played step =
      played(drawn_shape(checked), std::move(program), std::move(times), std::string(kUnitTimes));
  step.what = "as written";
  return draw(step, file, flags, markdown, options, io);
}

}  // namespace rankwright::cli
