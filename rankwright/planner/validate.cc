#include "rankwright/planner/validate.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"

namespace rankwright::planner {
namespace {

Refusal refuse_unreadable(Diagnostic fault, const std::string& file) {
  if (fault.where.file.empty()) fault.where.file = file;
  return {.kind = Refusal::Kind::unreadable, .findings = {std::move(fault)}, .file = {file, {}}};
}

Result<Csv> read_table(const SourceFile& file) {
  if (file.unreadable) return fail(*file.unreadable);
  return parse_csv(file.text, file.name);
}

Outcome<ValidateAnswer> score_table(const Csv& table, const ValidateRequest& request) {
  const std::string& file = request.files.front().name;
  if (request.files.size() > 1)
    return refuse_usage("a table of collectives must be the only file", "pass one file at a time");
  if (request.runs_only || request.leave_one_family_out || request.calibrate_one || request.fit ||
      !request.with.empty())
    return refuse_usage(
        "--leave-one-family-out, --calibrate-one, --with, --plot and --all need runs, but this is "
        "a table of collectives",
        "remove them");
  Result<validate::MeasuredCollectives> measured = validate::read_collectives(table, file);
  if (!measured) return tl::unexpected(refuse_unreadable(measured.error(), file));
  return ValidateAnswer{.collectives =
                            score_collectives(std::move(*measured), catalog::get_calibration())};
}

/// The rows of the files of a request.
struct RunTables {
  validate::Runs runs{};  // including the excluded ones
  std::vector<validate::EffectPair> effects{};
};

Outcome<RunTables> read_run_tables(const std::vector<SourceFile>& files) {
  RunTables all;
  for (const SourceFile& file : files) {
    const Result<Csv> table = read_table(file);
    if (!table) return tl::unexpected(refuse_unreadable(table.error(), file.name));
    if (validate::holds_effects(*table)) {
      const Result<std::vector<validate::EffectPair>> pairs =
          validate::read_effects(*table, file.name);
      if (!pairs) return tl::unexpected(refuse_unreadable(pairs.error(), file.name));
      all.effects.insert(all.effects.end(), pairs->begin(), pairs->end());
      continue;
    }
    Result<validate::Runs> runs = validate::read_runs(*table, file.name);
    if (!runs) return tl::unexpected(refuse_unreadable(runs.error(), file.name));
    std::move(runs->scored.begin(), runs->scored.end(), std::back_inserter(all.runs.scored));
    std::move(runs->excluded.begin(), runs->excluded.end(), std::back_inserter(all.runs.excluded));
  }
  return all;
}

Refusal refuse_empty(const validate::Runs& runs) {
  std::string message = "no row can be scored";
  if (!runs.excluded.empty())
    message += fmt::format("\n  {}: {}", make_excerpt(runs.excluded.front().id, 60),
                           runs.excluded.front().why);
  return {.kind = Refusal::Kind::unreadable,
          .message = std::move(message),
          .hint = "rows need shapes, degrees, a GPU of the catalog, and quality A, B or blank"};
}

std::vector<std::string> names_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> names;
  for (const SourceFile& file : files) names.push_back(file.name);
  return names;
}

cluster::Calibration fit_all(const std::vector<validate::Case>& cases) {
  std::vector<const validate::Case*> rows;
  for (const validate::Case& one : cases) rows.push_back(&one);
  return validate::fit(rows);
}

Outcome<ValidateAnswer> score_runs(const ValidateRequest& request) {
  Outcome<RunTables> tables = read_run_tables(request.files);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  const Outcome<RunTables> with = read_run_tables(request.with);
  if (!with) return tl::unexpected(with.error());
  validate::Runs& runs = tables->runs;
  if (runs.scored.empty()) return tl::unexpected(refuse_empty(runs));
  std::shared_ptr<const std::vector<validate::Case>> cases =
      std::make_shared<std::vector<validate::Case>>(make_cases(runs.scored));
  if (request.fit) return ValidateAnswer{.fitted = fit_all(*cases)};
  const validate::ValidateOptions options{.mode = request.leave_one_family_out
                                                      ? validate::Mode::leave_one_family_out
                                                      : validate::Mode::shipped,
                                          .calibrate_one = request.calibrate_one};
  const validate::Progress quiet = [](std::size_t, std::size_t, std::string_view) {};
  validate::Validation validation = validate::validate(
      *cases, make_cases(with->runs.scored), options, request.progress ? request.progress : quiet);
  validation.score.effects = score_effects(tables->effects, validation.rows);
  return ValidateAnswer{
      .runs = ScoredRuns{
          .cases = std::move(cases),
          .validation = std::move(validation),
          .source = {names_of(request.files), names_of(request.with), std::move(runs.excluded)}}};
}

}  // namespace

double ValidationSource::share(std::size_t scored) const {
  const std::size_t rows = scored + excluded.size();
  return rows == 0 ? 0 : double(scored) / double(rows);
}

Outcome<ValidateAnswer> validate_runs(const ValidateRequest& request) {
  if (!request.with.empty() && !request.leave_one_family_out)
    return refuse_usage("--with needs a refit", "add --leave-one-family-out");
  const SourceFile& file = request.files.front();
  const Result<Csv> first = read_table(file);
  if (!first) return tl::unexpected(refuse_unreadable(first.error(), file.name));
  if (validate::holds_collectives(*first)) return score_table(*first, request);
  return score_runs(request);
}

}  // namespace rankwright::planner
