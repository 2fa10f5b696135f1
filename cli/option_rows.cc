#include "cli/option_rows.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "cli/verb.h"
#include "rankwright/base/check.h"

namespace rankwright::cli {
namespace {

OptionRow row(const CLI::Option& option) {
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

}  // namespace

std::vector<OptionRow> option_rows(const CLI::App& app) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) rows.push_back(row(*option));
  return rows;
}

std::vector<OptionRow> option_rows(const Verb& verb) {
  std::istringstream in;
  std::ostringstream out, err;
  std::vector<OptionRow> rows;
  const int code = verb.run({}, {.in = in, .out = out, .err = err, .tells = &rows});
  RW_CHECK(code == kOk && !rows.empty());
  return rows;
}

}  // namespace rankwright::cli
