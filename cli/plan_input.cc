#include "cli/plan_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <istream>

#include "rankwright/base/format.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/planner/plan/source_files.h"

namespace rankwright::cli {
namespace {

/// Reads all of standard input, up to the size limit of files.
std::string read_all(std::istream& in) {
  std::string text;
  char buffer[65536];
  while (text.size() <= importer::kMaxFileBytes && in.read(buffer, sizeof buffer))
    text.append(buffer, sizeof buffer);
  text.append(buffer, std::size_t(in.gcount()));
  return text;
}

/// Returns an environment variable that may be a setting of a run: a number or a word. Paths and
/// the user's own names are not.
std::optional<std::string> read_environment(const std::string& name) {
  constexpr std::string_view kPersonal[] = {"USER", "LOGNAME", "HOSTNAME", "LANG", "TERM", "SHLVL"};
  constexpr std::string_view kWord =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (std::find(std::begin(kPersonal), std::end(kPersonal), name) != std::end(kPersonal))
    return std::nullopt;
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr ||
      std::string_view(value).find_first_not_of(kWord) != std::string_view::npos)
    return std::nullopt;
  return std::string(value);
}

/// Adds "NAME=VALUE" to the variables. Returns what is wrong with it, if anything.
std::optional<Diagnostic> add_variable(const std::string& text, importer::ShellInput& input) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Diagnostic{.code = "RW0912",
                      .message = "missing value",
                      .detail = fmt::format("'{}' is not NAME=VALUE", make_excerpt(text)),
                      .hint = "--set NNODES=16",
                      .where = {.file = "--set"}};
  input.variables[text.substr(0, equals)] = text.substr(equals + 1);
  return std::nullopt;
}

}  // namespace

void PlanFlags::add_to(Options& options) {
  options.add("--model", model, "model name or config.json; default: the plan's");
  options.add("--cluster", cluster, "\"dgx-h100 x 8\" or a cluster file; default: the plan's");
  options.add("--world", world, "number of ranks, if a framework's file does not give it")
      .range(i64{1}, cluster::kMaxDevices);
  options.add("--set", variables, "value of a variable that a script leaves open: NNODES=16")
      .type_name("NAME=VALUE")
      .one_value_each();
}

void PlanFlags::add_job_to(Options& options) {
  for (const planner::KeyOption& row : planner::key_options()) {
    const importer::PlanKey& key = planner::find_key_row(row.key).key;
    const std::string name(row.name);
    options.add("--" + name, job[name], std::string(key.meaning))
        .type_name(std::string(key.values))
        .group(std::string(planner::kJobOptionGroup));
  }
}

Result<std::string> read_argument(const std::string& argument, const Io& io) {
  if (argument == "-") return read_all(io.in);
  return importer::read_file(argument);
}

void PlanFlags::add_calibration_to(Options& options) {
  options.add("--calibrate", calibrate,
              "calibrate the estimate with the log of a run (Megatron-LM, torchtitan)");
  options.add("--ran", ran, "with --calibrate: the plan that ran, if different");
}

planner::SourceFile read_source(const std::string& argument, const Io& io) {
  return planner::make_source(argument, read_argument(argument, io));
}

Result<importer::ShellInput> PlanFlags::read_variables() const {
  importer::ShellInput input{.environment = read_environment};
  for (const std::string& one : variables)
    if (std::optional<Diagnostic> fault = add_variable(one, input)) return fail(std::move(*fault));
  return input;
}

planner::PlanSource PlanFlags::source(const Io& io) const {
  planner::PlanSource source{.plan = read_source(plan, io),
                             .model = model,
                             .cluster = cluster,
                             .world = world,
                             .format = format,
                             .files = importer::read_file};
  for (const auto& [name, text] : job)
    if (!text.empty()) source.job[name] = text;
  if (Result<importer::ShellInput> given = read_variables())
    source.variables = std::move(*given);
  else
    source.plan.unreadable = std::move(given.error());
  if (calibrate.empty()) return source;
  source.log = planner::read_log_source(calibrate);
  if (!ran.empty()) source.ran = read_source(ran, io);
  return source;
}

planner::PlanInput read_input(const PlanFlags& flags, const Io& io) {
  return read_input(flags.source(io));
}

}  // namespace rankwright::cli
