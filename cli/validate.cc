// `rankwright validate`: compares predictions with published measurements.
#include "rankwright/planner/validate.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/report/validation/collectives_text.h"
#include "rankwright/report/validation/validation_svg.h"
#include "rankwright/report/validation/validation_text.h"

namespace rankwright::cli {
namespace {

struct ValidateFlags {
  std::vector<std::string> files{}, with{};
  std::string plot{};
  bool leave_out = false, calibrate_one = false, all = false, fit = false;
};

/// Shows what is being fitted, after the first second and at most once per second.
class Told {
 public:
  Told(const Io& io, bool quiet) : io_(io), quiet_(quiet) {}

  void operator()(std::size_t done, std::size_t of, std::string_view what) {
    const Clock::time_point now = Clock::now();
    if (quiet_ || now - last_ < std::chrono::seconds(1)) return;
    last_ = now;
    io_.err << fmt::format("refitted without {} of {} publications; now without {}\n", done, of,
                           make_excerpt(what))
            << std::flush;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Io& io_;
  bool quiet_;
  Clock::time_point last_ = Clock::now();
};

int write_runs(const planner::ScoredRuns& runs, const ValidateFlags& flags, const Options& options,
               const Io& io) {
  const auto& [cases, validation, source] = runs;
  if (!flags.plot.empty())
    if (const int failed = options.save(report::draw_validation_svg(validation), flags.plot, io))
      return failed;
  return options.write(
      options.json() ? report::make_validation_json(validation, source)
                     : render_validation_text(validation, source, flags.all, options.paint(io)),
      io);
}

std::vector<planner::SourceFile> read_tables(const std::vector<std::string>& names) {
  std::vector<planner::SourceFile> files;
  for (const std::string& name : names) files.push_back(rankwright::planner::read_source(name));
  return files;
}

}  // namespace

int validate(Args args, const Io& io) {
  Options options(verb("validate"));
  ValidateFlags flags;
  options
      .add("file", flags.files,
           "measured runs (.csv, columns of tests/data/validation/runs.csv) or collectives "
           "(columns of collectives.csv or alltoall.csv); with runs also pairs of them "
           "(moe_effects.csv, memory_effects.csv)")
      .type_name("FILE")
      .required();
  options.add_switch("--leave-one-family-out", flags.leave_out,
                     "predict each family with constants fitted without it");
  options.add_switch(
      "--calibrate-one", flags.calibrate_one,
      "also calibrate on one row of each family, GPU and precision; it is not scored");
  options.add("--with", flags.with, "also fit on the rows of this file, without scoring them")
      .type_name("FILE")
      .one_value_each();
  options.add("--plot", flags.plot, "draw predicted against measured (SVG)").type_name("FILE");
  options.add_switch("--all", flags.all, "print every row");
  options.add_switch("--fit", flags.fit,
                     "fit the constants on all rows and print them next to the shipped ones");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  if (flags.fit && (flags.leave_out || flags.calibrate_one || options.json()))
    return print_usage_fault("validate", "--fit cannot be combined with other options",
                             "remove the other options", io);
  Told format_findings(io, options.quiet());
  const planner::Outcome<planner::ValidateAnswer> answer = planner::validate_runs(
      {.files = read_tables(flags.files),
       .with = read_tables(flags.with),
       .leave_one_family_out = flags.leave_out,
       .calibrate_one = flags.calibrate_one,
       .fit = flags.fit,
       .runs_only = flags.all || !flags.plot.empty(),
       .progress = [&](std::size_t done, std::size_t of, std::string_view what) {
         format_findings(done, of, what);
       }});
  if (!answer) return print_refusal("validate", answer.error(), io);
  if (answer->fitted) return options.write(report::write_fitted_csv(*answer->fitted), io);
  if (answer->runs) return write_runs(*answer->runs, flags, options, io);
  return options.write(options.json()
                           ? report::make_collectives_json(*answer->collectives)
                           : render_collectives_text(*answer->collectives, options.paint(io)),
                       io);
}

}  // namespace rankwright::cli
