#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <span>

#include "cli/io/output_file.h"
#include "cli/option_rows.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/report/render/table.h"

namespace rankwright::cli {
namespace {

/// Flags that name a file to write.
constexpr std::string_view kOutputOptions[] = {"--output", "--html", "--svg",
                                               "--trace",  "--csv",  "--plot"};
/// Options that name files to read.
constexpr std::string_view kInputOptions[] = {
    "plan",      "file",    "a",           "b",      "what",       "--model",
    "--cluster", "--log",   "--calibrate", "--ran",  "--measured", "--with",
    "--against", "--check", "--hosts",     "--data", "--answers"};
/// Flags that select the format of the answer.
constexpr std::string_view kForms[] = {"--json", "--markdown", "--format"};

constexpr std::string_view kWhole = "a whole number";

bool one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool given(const CLI::App& app, std::string_view flag) {
  const CLI::Option* const option = app.get_option_no_throw(std::string(flag));
  return option != nullptr && option->count() > 0;
}

/// Rejects values that are not numbers of the option's type, before CLI11 does in its own words.
template <typename Number>
Option require_number(CLI::Option* option, std::string_view kind, const std::string& placeholder) {
  option->type_name(placeholder);
  option->check([kind](const std::string& word) {
    Number value{};
    return CLI::detail::lexical_cast(word, value)
               ? std::string()
               : fmt::format("'{}' is not {}", make_excerpt(word), kind);
  });
  return Option(option);
}

template <typename Number>
void require_range(CLI::Option& option, Number min, Number max) {
  option.check([min, max](const std::string& word) {
    Number value{};
    const bool inside = CLI::detail::lexical_cast(word, value) && value >= min && value <= max;
    return inside ? std::string()
                  : fmt::format("'{}' is not from {} to {}", make_excerpt(word), min, max);
  });
}

/// A mistake on the command line: the problem, then what to type.
struct UsageFault {
  std::string what, help;
};

bool starts_option(std::string_view message, const CLI::Option& option) {
  const std::string name = option.get_name();
  return message.starts_with(name) && !message.substr(name.size()).starts_with('-');
}

/// Describes an argument or the value of a flag that is missing.
UsageFault describe_missing(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (option.get_positional()) return {fmt::format("missing argument '{}'", name), ""};
  return {fmt::format("missing value of {}", name),
          fmt::format("{} {}: {}", name, option.get_type_name(), option.get_description())};
}

UsageFault describe_mismatch(const CLI::Option& option, std::string_view message) {
  const std::string name = option.get_name();
  if (option.get_items_expected_max() == 0) return {name + " takes no value", "write " + name};
  if (message.find("At Most") == std::string_view::npos) return describe_missing(option);
  return {name + " is given more than once", fmt::format("pass {} once", name)};
}

/// Describes an error of CLI11 in the program's words. `help` is empty if there is no better one
/// than the help of the verb.
UsageFault describe_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::string_view message = error.what();
  const std::string kind = error.get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (kind == "RequiredError" && option->get_required() && option->count() == 0)
      return describe_missing(*option);
    if (kind == "ArgumentMismatch" && starts_option(message, *option))
      return describe_mismatch(*option, message);
    if (kind != "RequiresError" || option->count() == 0) continue;
    for (const CLI::Option* other : option->get_needs())
      if (other->count() == 0)
        return {fmt::format("{} needs {}", option->get_name(), other->get_name()),
                fmt::format("add {}", other->get_name())};
  }
  return {std::string(message), ""};
}

/// Returns an option as completions and manual pages show it.
OptionRow row_of(const CLI::Option& option) {
  OptionRow row{.help = option.get_description(),
                .group = option.get_group(),
                .required = option.get_required(),
                .repeats = option.get_items_expected_max() > 1};
  for (const std::string& flag : option.get_snames()) row.flags.push_back("-" + flag);
  for (const std::string& flag : option.get_lnames()) row.flags.push_back("--" + flag);
  if (row.positional()) row.name = option.get_name(true);
  if (option.get_items_expected_max() == 0) return row;
  row.type = option.get_type_name();
  row.value = CLI::Formatter().make_option_opts(&option);
  row.value.erase(0, row.value.find_first_not_of(' '));
  return row;
}

/// Returns all options in the order of help.
std::vector<OptionRow> rows_of(const CLI::App& app) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) rows.push_back(row_of(*option));
  return rows;
}

/// An option and the values typed for it.
struct TypedFile {
  std::string flag, path;
};

bool there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Returns the flag as typed, "-o" rather than "--output"; empty for a positional input file.
std::string spelt(const TypedFile& file) {
  if (file.flag == "--output") return "-o " + file.path;
  return file.flag.starts_with('-') ? file.flag + " " + file.path : file.path;
}

}  // namespace

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::range(i64 min, i64 max) {
  require_range(*option_, min, max);
  return *this;
}

Option& Option::range(double min, double max) {
  require_range(*option_, min, max);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

Options::Options(const Verb& verb)
    : app_(std::make_unique<CLI::App>(fmt::format("Example: {}\n\n{}", verb.example, verb.summary),
                                      fmt::format("rankwright {}", verb.name))),
      name_(verb.name) {
  app_->set_help_flag("-h,--help", "print this help and exit");
  add_switch("--json", json_, "write JSON (versioned schema)");
  add("-o,--output", output_, "write to this file").type_name("FILE");
  add_switch("--no-color", no_color_, "no color, even on a terminal (also NO_COLOR)");
  add_switch("--quiet", quiet_, "suppress progress and notices");
}

Options::~Options() = default;

Option Options::add(const std::string& name, std::string& into, const std::string& help) {
  return Option(app_->add_option(name, into, help));
}

Option Options::add(const std::string& name, std::vector<std::string>& into,
                    const std::string& help) {
  return Option(app_->add_option(name, into, help));
}

Option Options::add(const std::string& name, i64& into, const std::string& help) {
  return require_number<i64>(app_->add_option(name, into, help), kWhole, "N");
}

Option Options::add(const std::string& name, std::optional<i64>& into, const std::string& help) {
  return require_number<i64>(app_->add_option(name, into, help), kWhole, "N");
}

Option Options::add(const std::string& name, std::uint64_t& into, const std::string& help) {
  return require_number<std::uint64_t>(app_->add_option(name, into, help), kWhole, "N");
}

Option Options::add(const std::string& name, double& into, const std::string& help) {
  return require_number<double>(app_->add_option(name, into, help), "a number", "NUMBER");
}

Option Options::add_switch(const std::string& name, bool& into, const std::string& help) {
  return Option(app_->add_flag(name, into, help));
}

void Options::describe(const std::string& name, const std::string& help) {
  app_->get_option(name)->description(help);
}

std::optional<int> Options::parse(Args args, const Io& io) {
  if (io.collect_options != nullptr) {
    *io.collect_options = rows_of(*app_);
    return kOk;
  }
  const auto refuse = [&](const UsageFault& fault) {
    return complain(fault.what, fault.help.empty() ? "rankwright help " + name_ : fault.help,
                    kUsage, io);
  };
  std::vector<std::string> reversed(args.rbegin(), args.rend());  // CLI11 takes them from the back
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return print(app_->help(), io);
  } catch (const CLI::ExtrasError&) {
    return unexpected(io);
  } catch (const CLI::ParseError& error) {
    return refuse(describe_usage(*app_, error));
  }
  // An unset variable of a script, as in --model "$MODEL", must not look like an absent flag.
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& value : option->results())
      if (value.empty()) return refuse(describe_missing(*option));
  const int refused = refuse_outputs(io);
  return refused != kOk ? std::optional(refused) : std::nullopt;
}

int Options::complain(const std::string& what, const std::string& help, int code,
                      const Io& io) const {
  io.err << report::fit_lines(fmt::format("rankwright {}: {}\n  help: {}\n", name_, what, help),
                              io.width);
  return code;
}

int Options::refuse_outputs(const Io& io) {
  std::vector<TypedFile> written, read;
  for (const CLI::Option* option : app_->get_options()) {
    const std::string name = option->get_name();
    if (!one_of(kOutputOptions, name) && !one_of(kInputOptions, name)) continue;
    for (const std::string& word : option->results())
      (one_of(kOutputOptions, name) ? written : read).push_back({name, word});
  }
  for (std::size_t k = 0; k < written.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j)
      if (same_file(written[k].path, written[j].path))
        return complain(
            fmt::format("{} and {} are the same file", spelt(written[j]), spelt(written[k])),
            "use two files", kUsage, io);
    for (const TypedFile& other : read) {
      // The found plan may overwrite the plan file that the search started from.
      if (prints_besides_ && written[k].flag == "--output" && other.flag == "file") continue;
      if (there(other.path) && same_file(written[k].path, other.path))
        return complain(
            fmt::format("{} would overwrite the input {}", spelt(written[k]), spelt(other)),
            "write to another file", kUsage, io);
    }
  }
  std::vector<std::string> printed;
  for (const TypedFile& file : written) {
    if (file.path != "-") continue;
    printed.push_back(spelt(file));
    stdout_taken_ = stdout_taken_ || file.flag != "--output";
  }
  return refuse_mixed(std::move(printed), io);
}

int Options::refuse_mixed(std::vector<std::string> printed, const Io& io) const {
  std::vector<std::string> forms;
  for (const std::string_view form : kForms)
    if (given(*app_, form)) forms.emplace_back(form);
  if (forms.size() > 1)
    return complain(fmt::format("{} cannot be combined", fmt::join(forms, " and ")),
                    "use one of them", kUsage, io);
  if (printed.empty()) return kOk;
  if (output_.empty() || prints_besides_) printed.insert(printed.end(), forms.begin(), forms.end());
  if (printed.size() == 1) return kOk;
  return complain(fmt::format("{} would mix on standard output", fmt::join(printed, " and ")),
                  "write all but one of them to files", kUsage, io);
}

int Options::refuse_unwritable(const std::vector<std::string>& paths, const Io& io) const {
  for (const std::string& path : paths)
    if (const std::optional<OutputFault> fault = check_output_path(path))
      return complain(fault->what, fault->help, kUnreadable, io);
  return kOk;
}

int Options::unexpected(const Io& io) const {
  const std::vector<std::string> extras = app_->remaining();
  const std::string word = extras.empty() ? "" : extras.front();
  std::vector<std::string> flags;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
  const bool flag = word.starts_with('-');
  const std::optional<std::string> near = flag ? nearest_flag(word, flags) : std::nullopt;
  return complain(
      fmt::format("{} '{}'", flag ? "unknown flag" : "unexpected argument", make_excerpt(word)),
      near ? fmt::format("did you mean {}?", *near) : "rankwright help " + name_, kUsage, io);
}

int Options::write(const std::string& text, const Io& io) const {
  if (!output_.empty()) return save(text, output_, io);
  return stdout_taken_ ? int(kOk) : print(text, io);
}

int Options::print(const std::string& text, const Io& io) const {
  const bool is_file = keeps_lines_ || json_ ||
                       std::any_of(std::begin(kForms), std::end(kForms),
                                   [&](std::string_view form) { return given(*app_, form); });
  return print_as_is(is_file ? text : report::fit_lines(text, io.width), io);
}

int Options::print_as_is(const std::string& text, const Io& io) const {
  io.out << text << std::flush;
  if (io.out) return kOk;
  io.err << fmt::format("rankwright {}: cannot write to standard output\n", name_);
  return kUnreadable;
}

int Options::save(const std::string& text, const std::string& path, const Io& io) const {
  if (path == "-") return print_as_is(text, io);
  const std::optional<OutputFault> fault = write_file(path, text);
  return fault ? complain(fault->what, fault->help, kUnreadable, io) : int(kOk);
}

int Options::save_bytes(const std::string& bytes, const std::string& path, const Io& io) const {
  if (path != "-" || io.bytes_out == nullptr) return save(bytes, path, io);
  io.out.flush();
  *io.bytes_out << bytes << std::flush;
  return *io.bytes_out ? int(kOk) : print_as_is("", io);
}

}  // namespace rankwright::cli
