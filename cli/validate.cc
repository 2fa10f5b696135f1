// `rankwright validate`: predictions against published measurements.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <ostream>

#include "cli/call.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/file.h"
#include "rankwright/report/collectives_text.h"
#include "rankwright/report/validation_svg.h"
#include "rankwright/report/validation_text.h"

namespace rankwright::cli {
namespace {

struct ValidateFlags {
  std::vector<std::string> files{}, with{};
  std::string plot{};
  bool leave_out = false, calibrate_one = false, all = false, fit = false;

  bool about_runs() const {
    return leave_out || calibrate_one || all || fit || !plot.empty() || !with.empty();
  }
};

int unreadable(Diagnostic fault, const std::string& file, const Io& io) {
  if (fault.where.file.empty()) fault.where.file = file;
  tell({fault}, file, "", io);
  return kUnreadable;
}

int usage(std::string_view what, std::string_view help, const Io& io) {
  io.err << fmt::format("rankwright validate: {}\n  help: {}\n", what, help);
  return kUsage;
}

Result<Csv> read_table(const std::string& file) {
  const Result<std::string> text = read_file(file);
  if (!text) return fail(text.error());
  return parse_csv(*text, file);
}

/// Tells what is being fitted, once a second has passed and at most once a second.
class Told {
 public:
  Told(const Io& io, bool quiet) : io_(io), quiet_(quiet) {}

  void operator()(std::size_t done, std::size_t of, std::string_view what) {
    const Clock::time_point now = Clock::now();
    if (quiet_ || now - last_ < std::chrono::seconds(1)) return;
    last_ = now;
    io_.err << fmt::format("fitted without {} of {} publications; now without {}\n", done, of,
                           excerpt(what))
            << std::flush;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Io& io_;
  bool quiet_;
  Clock::time_point last_ = Clock::now();
};

int validate_collectives(const Csv& table, const ValidateFlags& flags, const Options& options,
                         const Io& io) {
  const std::string& file = flags.files.front();
  if (flags.files.size() > 1)
    return usage("a table of collectives is scored alone", "one file at a time", io);
  if (flags.about_runs())
    return usage(
        "--leave-one-family-out, --calibrate-one, --with, --plot and --all are about runs, and "
        "this is a table of collectives",
        "leave them out", io);
  Result<MeasuredCollectives> measured = read_collectives(table, file);
  if (!measured) return unreadable(measured.error(), file, io);
  const CollectiveScore score = score_collectives(std::move(*measured), calibration());
  return options.write(
      options.json() ? collectives_json(score) : collectives_text(score, options.paint(io)), io);
}

/// The runs of all `files`, with what was left out; nothing where one cannot be read. `first`: the
/// table of the first of them, where it has been read already.
std::optional<Runs> read_all(const std::vector<std::string>& files, const Io& io,
                             const Csv* first = nullptr) {
  Runs all;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string& file = files[k];
    const Result<Csv> table = k == 0 && first != nullptr ? Result<Csv>(*first) : read_table(file);
    if (!table) {
      unreadable(table.error(), file, io);
      return std::nullopt;
    }
    Result<Runs> runs = read_runs(*table, file);
    if (!runs) {
      unreadable(runs.error(), file, io);
      return std::nullopt;
    }
    std::move(runs->scored.begin(), runs->scored.end(), std::back_inserter(all.scored));
    std::move(runs->excluded.begin(), runs->excluded.end(), std::back_inserter(all.excluded));
  }
  return all;
}

int nothing_to_score(const Runs& runs, const Io& io) {
  io.err << "rankwright validate: no row can be scored\n";
  if (!runs.excluded.empty())
    io.err << fmt::format("  {}: {}\n", excerpt(runs.excluded.front().id, 60),
                          runs.excluded.front().why);
  io.err << "  help: rows need shapes, degrees, a GPU of the catalog, and quality A, B or none\n";
  return kUnreadable;
}

/// What a fit on all rows finds, as a table that calibration.csv can take its values from.
std::string fitted_csv(const std::vector<Case>& cases) {
  std::vector<const Case*> rows;
  for (const Case& one : cases) rows.push_back(&one);
  const Calibration values = fit(rows);
  std::string text = "constant,shipped,fitted\n";
  for (const ConstantRow& row : constants())
    if (row.data == FitData::steps || row.data == FitData::memory)
      text += fmt::format("{},{:.4g},{:.4g}\n", row.name, row.value, values[row.constant]);
  return text;
}

int validate_runs(const Csv& first, const ValidateFlags& flags, const Options& options,
                  const Io& io) {
  std::optional<Runs> runs = read_all(flags.files, io, &first);
  if (!runs) return kUnreadable;
  const std::optional<Runs> with = read_all(flags.with, io);
  if (!with) return kUnreadable;
  if (runs->scored.empty()) return nothing_to_score(*runs, io);
  const std::vector<Case> cases = make_cases(runs->scored);
  if (flags.fit) return options.write(fitted_csv(cases), io);
  Told told(io, options.quiet());
  const Validation validation = rankwright::validate(
      cases, make_cases(with->scored),
      {.mode = flags.leave_out ? Mode::leave_one_family_out : Mode::shipped,
       .calibrate_one = flags.calibrate_one},
      [&](std::size_t done, std::size_t of, std::string_view what) { told(done, of, what); });
  if (!flags.plot.empty())
    if (const int failed = options.save(validation_svg(validation), flags.plot, io)) return failed;
  const ValidationSource source{flags.files, flags.with, std::move(runs->excluded)};
  if (io.call != nullptr)
    io.call->forms = {.json = validation_json(validation, source),
                      .text = validation_text(validation, source, flags.all, {})};
  return options.write(options.json()
                           ? validation_json(validation, source)
                           : validation_text(validation, source, flags.all, options.paint(io)),
                       io);
}

}  // namespace

int validate(Args args, const Io& io) {
  Options options(verb("validate"));
  ValidateFlags flags;
  options
      .add("file", flags.files,
           "measured runs (.csv) with the columns of tests/data/validation/runs.csv, or "
           "measured collectives with those of collectives.csv")
      .type_name("FILE")
      .required();
  options.add_switch("--leave-one-family-out", flags.leave_out,
                     "predict each family with constants that were fitted without it");
  options.add_switch("--calibrate-one", flags.calibrate_one,
                     "also use one row of each family, GPU and precision; it is not scored");
  options.add("--with", flags.with, "also fit on the rows of this file, without scoring them")
      .type_name("FILE")
      .one_value_each();
  options.add("--plot", flags.plot, "draw predicted against measured (SVG)").type_name("FILE");
  options.add_switch("--all", flags.all, "print every row");
  options.add_switch("--fit", flags.fit,
                     "fit the constants on all rows and print them beside the shipped ones");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  if (!flags.with.empty() && !flags.leave_out)
    return usage("--with is about refits", "add --leave-one-family-out", io);
  if (flags.fit && (flags.leave_out || flags.calibrate_one || options.json()))
    return usage("--fit prints constants and nothing else", "leave the other options out", io);
  const Result<Csv> first = read_table(flags.files.front());
  if (!first) return unreadable(first.error(), flags.files.front(), io);
  if (holds_collectives(*first)) return validate_collectives(*first, flags, options, io);
  return validate_runs(*first, flags, options, io);
}

}  // namespace rankwright::cli
