#include "rankwright/import/framework/script_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"

namespace rankwright::importer {
namespace {

/// Returns "$TP", or a description such as "a command's output".
std::string show_variable(const std::string& variable) {
  const bool named = variable.find(' ') == std::string::npos;
  return (named ? "$" : "") + make_excerpt(variable);
}

/// Returns what to type for a variable without a value.
std::string fill_hint(const std::string& variable) {
  if (variable.find(' ') != std::string::npos)
    return "write the value, or set the key in a plan file";
  return fmt::format("--set {}=VALUE", make_excerpt(variable));
}

/// Returns "3, 7, 12" for the lines of the places, "..." after the fifth.
std::string list_lines(const std::vector<YamlNode>& places) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, places.size()); ++i)
    text += (text.empty() ? "" : ", ") + std::to_string(places[i].line);
  return text + (places.size() > kShown ? ", ..." : "");
}

/// Records the flags whose values are defaults of unset variables as open, and reports them once.
void report_defaults(ForeignReading& r, const ScriptFlags& flags, std::span<const ForeignKey> rows,
                     PlanFile& plan) {
  std::vector<std::string> shown;
  const YamlNode* first = nullptr;
  const auto add = [&](std::string_view key, const std::string& variable,
                       const std::string& value) {
    if (variable.starts_with('?')) {  // the note on conditions names it
      const std::string decides = variable.substr(1);
      plan.open.push_back({std::string(key),
                           fmt::format("the branch of a condition on {}", show_variable(decides)),
                           fill_hint(decides)});
      return;
    }
    const std::string name =
        variable.find_first_not_of("0123456789") == std::string::npos ? "$" + variable : variable;
    const auto known = flags.default_values.find(variable);
    const std::string text =
        fmt::format("{} = {}", make_excerpt(name),
                    make_excerpt(known == flags.default_values.end() ? value : known->second));
    plan.open.push_back({std::string(key), text, fmt::format("--set {}=VALUE", variable)});
    if (std::find(shown.begin(), shown.end(), text) == shown.end()) shown.push_back(text);
  };
  for (const ScriptFlags::Default& one : flags.defaults) {
    for (const ForeignKey& row : rows)
      if (row.path == one.flag && !row.plan_key.empty()) {
        if (first == nullptr) first = &one.place;
        add(row.plan_key, one.variable, one.place.scalar);
        break;
      }
    const std::span<const std::string_view> shapes = r.model_keys;
    if (std::find(shapes.begin(), shapes.end(), one.flag) != shapes.end()) {
      if (first == nullptr) first = &one.place;
      add("model", one.variable, one.place.scalar);
    }
  }
  if (shown.empty()) return;
  r.fields.report(*first,
                  make_assumption(fmt::format("defaults of variables that the script leaves "
                                              "open: {}",
                                              fmt::join(shown, ", ")),
                                  plan.name.ends_with(".py")
                                      ? "--set NAME=VALUE"
                                      : "--set NAME=VALUE, or set them in the environment"));
}

/// Records the number of ranks that the defaults of variables give.
void read_open_ranks(const ScriptFlags& flags, PlanFile& plan) {
  if (!flags.open_ranks || plan.usual_world) return;  // the program's own numbers come first
  const ScriptFlags::OpenRanks& open = *flags.open_ranks;
  std::optional<i64> world = open.world;
  if (open.gpus && !world) world = product({open.nodes.value_or(1), *open.gpus});
  keep_node_gpus(open.gpus, plan.draft);
  if (!world || *world < 1 || *world > cluster::kMaxDevices) return;
  plan.usual_world = world;
  plan.usual_source = describe_default(open.variable);
}

/// Reports what the reading of the script left out or took from outside.
void report_script(ForeignReading& r, const ScriptFlags& flags, const PlanFile& plan) {
  const auto note = [&](std::string detail, std::string hint) {
    r.fields.report(flags.map, make_assumption(std::move(detail), std::move(hint)));
  };
  if (flags.other_commands > 0)
    note(fmt::format("the script starts {} training runs with different flags: using the first",
                     flags.other_commands + 1),
         "");
  std::vector<std::string> outside;
  for (const std::string& name : flags.used)
    if (!plan.variables.variables.contains(name)) outside.push_back(make_excerpt(name));
  if (!outside.empty())
    note(fmt::format("values of the environment: {}", fmt::join(outside, ", ")), "");
  if (!flags.cut_off.empty())
    report_left_out(r, flags.cut_off.front(),
                    fmt::format("the shell ends a command at a comment, and at a line without a "
                                "backslash: the flags below are not passed on (line{} {})",
                                flags.cut_off.size() == 1 ? "" : "s", list_lines(flags.cut_off)));
  if (!flags.edited.empty()) {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> names;
    for (const YamlNode& file : flags.edited)
      if (names.size() < kShown)
        names.push_back(make_excerpt(file.scalar.substr(file.scalar.rfind('/') + 1)));
    report_left_out(
        r, flags.edited.front(),
        fmt::format("sed changes {} before the run ({}{}): what it sets there is not read",
                    plural(i64(flags.edited.size()), "file", "files"), fmt::join(names, ", "),
                    flags.edited.size() > kShown ? ", ..." : ""));
  }
  for (const std::string& file : flags.unread)
    if (!is_environment_script(file))
      note(fmt::format("the settings in {}, which the script sources: the file cannot be read",
                       make_path_excerpt(file)),
           "put the file beside the script");
  for (const auto& [name, value] : plan.variables.variables)
    if (!flags.used.contains(name))
      r.fields.report(flags.map,
                      {.code = "RW0902",
                       .severity = Severity::warning,
                       .message = "unknown key, ignored",
                       .detail = fmt::format("--set {}: the script sets this variable itself, or "
                                             "does not use it",
                                             make_excerpt(name))});
}

void report_unknown(ForeignReading& r, const ScriptFlags& flags, std::span<const ForeignKey> rows,
                    PlanFile& plan) {
  const auto is_read = [&](std::string_view flag) {
    return std::find(r.model_keys.begin(), r.model_keys.end(), flag) != r.model_keys.end() ||
           std::any_of(rows.begin(), rows.end(),
                       [&](const ForeignKey& row) { return row.path == flag; });
  };
  std::set<std::string_view> reported;
  for (const ScriptFlags::Unknown& one : flags.unknown) {
    if (!is_read(one.flag) || !reported.insert(one.flag).second) continue;
    std::string_view key = "model";
    for (const ForeignKey& row : rows)
      if (row.path == one.flag) key = row.plan_key;
    plan.open.push_back({std::string(key), show_variable(one.variable), fill_hint(one.variable)});
    // Sequence parallelism without tensor parallelism, which is only assumed then.
    if (key == "parallelism.tp_size") plan.answered.emplace_back("RW0403");
    r.fields.report(one.place,
                    {.code = "RW0614",
                     .severity = Severity::warning,
                     .message = "a value that is known only when the script runs",
                     .detail = fmt::format("{}{}: the value of {} is unknown", r.dashes,
                                           make_excerpt(one.stated.empty() ? one.flag : one.stated),
                                           show_variable(one.variable)),
                     .hint = fill_hint(one.variable)});
  }
  if (!flags.guesses.empty())
    r.fields.report(
        flags.guesses.front(),
        make_assumption(
            flags.guesses.size() == 1
                ? "the value of the condition is unknown: using its first branch, or the one of an "
                  "unset variable"
                : fmt::format("the values of {} conditions are unknown (lines {}): using "
                              "their first branches, or the ones of unset variables",
                              flags.guesses.size(), list_lines(flags.guesses))));
  if (flags.cut)
    r.fields.report(flags.map, {.code = "RW0906",
                                .message = "the file is too large or too deeply nested",
                                .detail = "its variables expand to more than the limit"});
}

}  // namespace

std::string describe_default(const std::string& variable) {
  if (variable.starts_with('?')) return {};  // the note on conditions names it
  return fmt::format(", by the default of {}", show_variable(variable));
}

void report_script_values(ForeignReading& reading, const ScriptFlags& flags,
                          std::span<const ForeignKey> rows, PlanFile& plan) {
  if (!flags.xla_bf16.empty())
    report_left_out(
        reading, reading.root,
        fmt::format("{}=1: XLA keeps fp32 tensors in bf16, which are estimated as stated",
                    flags.xla_bf16));
  if (!flags.blocking.empty())
    report_left_out(reading, reading.root,
                    fmt::format("{}=1: the host waits for every kernel, which is not estimated",
                                flags.blocking));
  report_unknown(reading, flags, rows, plan);
  report_defaults(reading, flags, rows, plan);
  report_script(reading, flags, plan);
  read_open_ranks(flags, plan);
}

}  // namespace rankwright::importer
