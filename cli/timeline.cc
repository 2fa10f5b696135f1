#include "cli/timeline.h"

#include <fmt/format.h>

#include <limits>
#include <ostream>

#include "rankwright/base/format.h"
#include "rankwright/program/schedule.h"
#include "rankwright/program/transfers.h"
#include "rankwright/report/gantt.h"
#include "rankwright/report/timeline_json.h"
#include "rankwright/report/timeline_svg.h"
#include "rankwright/report/trace.h"
#include "rankwright/report/words.h"

namespace rankwright::cli {
namespace {

constexpr i64 kMostCells = i64{1} << 25;  // about four gigabytes when played
constexpr i64 kMostRanks = 16'384;
constexpr i64 kMostStages = 65'535;
constexpr i64 kManyCells = 2'000'000;  // takes long enough to say so

PipelineShape shape_of(const Setup& setup) {
  return {.schedule = setup.plan.schedule,
          .pp = setup.plan.pp,
          .chunks = setup.plan.virtual_stages,
          .microbatches = setup.microbatches(),
          .group = setup.plan.microbatch_group};
}

/// What the step does, and what everything takes.
Played play_setup(const Setup& setup) {
  const PipelineShape shape = shape_of(setup);
  Program program = with_transfers(cells(shape), shape.stages(), shape.microbatches);
  Durations durations = alike(program, 1.0_s, 1.0_s, 1.0_s);
  return played(
      shape, std::move(program), std::move(durations),
      "units, not prices: forward, input gradient and weight gradient of every stage take "
      "1 s each, transfers none");
}

/// A batch with so few microbatches that `most` cells are not exceeded; each pp rank gets its even
/// share of them, which every schedule takes. Nothing where that is less than one round.
std::string smaller_batch(const Setup& setup, i64 most) {
  const PipelineShape shape = shape_of(setup);
  const std::optional<i64> one = cell_count({shape.schedule, shape.pp, shape.chunks, 1});
  const i64 round = 2 * shape.pp;
  const i64 microbatches = one && *one > 0 ? most / *one / round * round : 0;
  const std::optional<i64> batch = product({microbatches, setup.plan.micro_batch, setup.plan.dp});
  if (microbatches == 0 || !batch) return "a smaller pipeline";
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
  const PipelineShape shape = shape_of(setup);
  if (shape.pp > kMostRanks || shape.stages() > kMostStages) {
    io.err << fmt::format(
        "rankwright explain: the pipeline has {} pp ranks and {} stages; at most {} and {} can be "
        "played\n  help: a smaller pp_size or virtual_stages\n",
        count(shape.pp), count(shape.stages()), count(kMostRanks), count(kMostStages));
    return kRefused;
  }
  const i64 cells = cell_count(shape).value_or(std::numeric_limits<i64>::max());
  if (cells > kMostCells) return too_many(setup, cells, kMostCells, "played", io);
  if (!flags.trace.empty() && cells > kMostSlices)
    return too_many(setup, cells, kMostSlices, "written to a trace", io);
  return std::nullopt;
}

}  // namespace

void TimelineFlags::add_to(Options& options) {
  options.app().add_flag("--timeline", timeline, "draw what each pp rank does when");
  options.app().add_option("--svg", svg, "draw the timeline to this file")->type_name("FILE");
  options.app()
      .add_option("--trace", trace, "write a trace: .json for Chrome's viewer, else Perfetto's")
      ->type_name("FILE");
}

int show_timeline(const Setup& setup, const TimelineFlags& flags, bool markdown,
                  const Options& options, const Io& io) {
  if (const std::optional<int> code = refused(setup, flags, io)) return *code;
  const i64 cells = cell_count(shape_of(setup)).value_or(0);
  if (cells > kManyCells && !options.quiet())
    io.err << fmt::format("playing {} cells ...\n", count(cells));
  const Played step = play_setup(setup);
  const TimelineSummary sum = summary(step);
  const std::string heading = headline(setup);
  if (!flags.svg.empty())
    if (const int failed = options.save(timeline_svg(step, sum, heading), flags.svg, io))
      return failed;
  if (!flags.trace.empty()) {
    const bool json = flags.trace.ends_with(".json");
    if (const int failed =
            options.save(json ? chrome_trace(step) : perfetto_trace(step), flags.trace, io))
      return failed;
  }
  if (options.json()) return options.write(timeline_json(step, sum, heading), io);
  const Paint paint = markdown ? Paint{} : options.paint(io);
  const std::string chart = gantt(step, sum, paint, io.width);
  return options.write(markdown ? "# " + heading + "\n\n```text\n" + chart + "```\n"
                                : paint.bold(heading) + "\n\n" + chart,
                       io);
}

}  // namespace rankwright::cli
