#include "cli/help/man_page.h"

#include <fmt/format.h>

#include "cli/option_rows.h"

namespace rankwright::cli {
namespace {

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escape_roff(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escape_roff(text)); }

std::string upper(std::string_view text) {
  std::string all(text);
  for (char& c : all)
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  return all;
}

/// Returns a summary as a sentence: capitalized, with a period.
std::string sentence(std::string_view text) {
  std::string all(text);
  if (!all.empty()) all.replace(0, 1, upper(all.substr(0, 1)));
  return all.ends_with('.') ? all : all + ".";
}

std::string head(std::string_view name, std::string_view summary) {
  return fmt::format(
      ".TH {} 1 \"\" \"rankwright {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      escape_roff(upper(name)), RANKWRIGHT_VERSION, escape_roff(name), escape_roff(summary));
}

std::string entry(const std::string& term, std::string_view meaning) {
  return fmt::format(".TP\n{}\n{}\n", term, escape_roff(meaning));
}

std::string example(std::string_view command) {
  return fmt::format(".SH EXAMPLE\n.EX\n{}\n.EE\n", escape_roff(command));
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitRow& row : exit_rows())
    text += entry(bold(std::to_string(int(row.code))), sentence(row.meaning));
  return text;
}

/// Lists every page except the named one.
std::string see_also(std::string_view page) {
  std::string text = ".SH SEE ALSO\n";
  std::string gap;
  const auto add = [&](const std::string& name) {
    if (name == page) return;
    text += gap + bold(name) + "(1)";
    gap = ",\n";
  };
  add("rankwright");
  for (const Verb& one : verbs()) add(fmt::format("rankwright-{}", one.name));
  return text + "\n";
}

std::string term(const OptionRow& row) {
  std::string text;
  for (const std::string& flag : row.flags) text += (text.empty() ? "" : ", ") + bold(flag);
  if (row.positional()) text = italic(row.name);
  return row.value.empty() || row.positional() ? text : text + " " + italic(row.value);
}

std::string synopsis(const Verb& verb, const std::vector<OptionRow>& rows) {
  std::string text =
      fmt::format("{}\n[{}]", bold(fmt::format("rankwright {}", verb.name)), italic("options"));
  for (const OptionRow& row : rows)
    if (row.positional()) {
      const std::string name = italic(row.name) + (row.repeats ? " ..." : "");
      text += row.required ? " " + name : " [" + name + "]";
    }
  return text + "\n";
}

/// Lists positional arguments, then flags under the headings of help.
std::string options(const std::vector<OptionRow>& rows) {
  std::string arguments, text, group = "Options";
  for (const OptionRow& row : rows) {
    if (row.positional()) {
      arguments += entry(term(row), sentence(row.help));
      continue;
    }
    if (row.group != group) text += fmt::format(".SS {}\n", escape_roff(row.group));
    group = row.group;
    text += entry(term(row), sentence(row.help));
  }
  if (!arguments.empty()) arguments = ".SH ARGUMENTS\n" + arguments;
  return arguments + ".SH OPTIONS\n" + text;
}

}  // namespace

std::string escape_roff(std::string_view text) {
  std::string all;
  if (text.starts_with('.') || text.starts_with('\'')) all = "\\&";
  for (const char c : text) {
    if (c == '\\')
      all += "\\e";
    else if (c == '-')
      all += "\\-";
    else if (c == '\'')
      all += "\\(aq";
    else if (c == '`')
      all += "\\(ga";
    else
      all += c;
  }
  return all;
}

std::string make_man_page(const Verb& verb) {
  const std::string name = fmt::format("rankwright-{}", verb.name);
  const std::vector<OptionRow> rows = list_option_rows(verb);
  return head(name, verb.summary) + synopsis(verb, rows) +
         fmt::format(".SH DESCRIPTION\n{}\n.PP\n{}\n", escape_roff(sentence(verb.summary)),
                     escape_roff(inputs_sentence())) +
         options(rows) + example(verb.example) + exit_status() + see_also(name);
}

std::string make_man_page() {
  const std::string program = bold("rankwright");
  std::string text =
      head("rankwright", "find, check and explain parallel layouts for training large models");
  text += fmt::format("{0} {1} [{2}]\n.br\n{0} {3} [{1}]\n.br\n{0} {4}\n", program, italic("verb"),
                      italic("options"), bold("help"), bold("--version"));
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH VERBS\n", escape_roff(inputs_sentence()));
  for (const Verb& one : verbs()) text += entry(bold(one.name), sentence(one.summary));
  text += entry(bold("help"), "Print the verbs, or the help of one verb.");
  text += ".SH ENVIRONMENT\n" + entry(bold("NO_COLOR"), "If set, print no color on a terminal.");
  return text + example(example_command()) + exit_status() + see_also("rankwright");
}

}  // namespace rankwright::cli
