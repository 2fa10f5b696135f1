#include "python/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "rankwright/base/format.h"
#include "rankwright/planner/plan/source_files.h"

namespace rankwright::python {
namespace {

/// Returns the integer that the whole text states, in any notation of C.
std::optional<i64> parse_whole(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  if (errno != 0 || text.empty() || *end != '\0') return std::nullopt;
  return value;
}

std::string help_hint(const std::string& verb) { return "rankwright help " + verb; }

}  // namespace

bool Arguments::has(std::string_view option) const {
  for (const auto& [name, value] : options)
    if (name == option) return true;
  return false;
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  std::vector<std::string> found;
  for (const auto& [name, value] : options)
    if (name == option && value) found.push_back(*value);
  return found;
}

std::string Arguments::text(std::string_view option) const {
  const std::vector<std::string> found = all(option);
  return found.empty() ? std::string() : found.front();
}

planner::Outcome<std::optional<i64>> Arguments::whole(std::string_view option) const {
  if (!has(option)) return std::nullopt;
  const std::optional<i64> number = parse_whole(text(option));
  if (!number)
    return planner::refuse_usage(
        fmt::format("--{}: '{}' is not a whole number", option, make_excerpt(text(option))),
        help_hint(verb));
  return number;
}

planner::Outcome<std::optional<i64>> Arguments::size(std::string_view option) const {
  planner::Outcome<std::optional<i64>> number = whole(option);
  if (!number || !*number || (**number >= 1 && **number <= cluster::kMaxDevices)) return number;
  return planner::refuse_usage(fmt::format("--{}: '{}' is not from 1 to {}", option,
                                           make_excerpt(text(option)), cluster::kMaxDevices),
                               help_hint(verb));
}

bool Arguments::names_file(const std::string& name) const {
  std::error_code ignored;
  return texts.contains(name) || std::filesystem::exists(name, ignored);
}

importer::FileReader Arguments::reader() const {
  return [this](const std::string& name) -> Result<std::string> {
    const auto given = texts.find(name);
    return given == texts.end() ? importer::read_file(name) : given->second;
  };
}

planner::SourceFile Arguments::source(const std::string& name) const {
  return planner::read_source(name, reader());
}

importer::ShellInput Arguments::variables() const {
  importer::ShellInput input;
  std::istringstream lines(text("set"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = std::min(line.find('='), line.size());
    if (equals > 0 && equals < line.size())
      input.variables[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return input;
}

planner::Outcome<planner::PlanSource> Arguments::plan() const {
  planner::Outcome<std::optional<i64>> world = size("world");
  if (!world) return tl::unexpected(std::move(world.error()));
  planner::PlanSource made{.plan = source(files.front()),
                           .model = text("model"),
                           .cluster = text("cluster"),
                           .world = *world,
                           .files = reader(),
                           .variables = variables()};
  for (const planner::KeyOption& row : planner::key_options())
    if (has(row.name)) made.job[std::string(row.name)] = text(row.name);
  if (!has("calibrate")) return made;
  made.log = planner::read_log_source(text("calibrate"));
  if (has("ran")) made.ran = source(text("ran"));
  return made;
}

std::vector<std::string> Arguments::words() const {
  std::vector<std::string> all = files;
  for (const auto& [name, value] : options)
    all.push_back(value ? fmt::format("--{}={}", name, *value) : "--" + name);
  return all;
}

}  // namespace rankwright::python
