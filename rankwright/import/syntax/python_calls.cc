#include "rankwright/import/syntax/python_calls.h"

#include <algorithm>

#include "rankwright/base/trim.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

/// Returns the offset behind a word of its own; npos if the text has none.
std::size_t find_behind(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !shell::is_name(text[at - 1]);
    if (begins && (end >= text.size() || !shell::is_name(text[end]))) return end;
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view find_assigned(std::string_view code, std::string_view name) {
  for (std::size_t at = find_behind(code, name); at != std::string_view::npos;
       at = find_behind(code, name, at)) {
    std::string_view rest = trim(code.substr(at, code.find('\n', at) - at));
    if (rest.starts_with(':')) {  // a type
      constexpr std::string_view kTypes = "[]., |_";
      std::size_t end = 1;
      while (end < rest.size() &&
             (shell::is_name(rest[end]) || kTypes.find(rest[end]) != kTypes.npos))
        ++end;
      rest = trim(rest.substr(end));
    }
    if (!rest.starts_with('=') || rest.starts_with("==")) continue;
    return trim(rest.substr(1, rest.find_first_of(",)", 1) - 1));
  }
  return {};
}

std::vector<PythonArgument> list_named_arguments(std::string_view text) {
  std::vector<PythonArgument> all;
  for (const std::string_view one : split_arguments(text))
    if (const PythonArgument argument = parse_argument(one);
        !argument.name.empty() && !argument.value.empty())
      all.push_back(argument);
  return all;
}

std::string_view find_argument(const std::vector<PythonArgument>& arguments,
                               std::string_view name) {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const PythonArgument& one) { return one.name == name; });
  return found == arguments.end() ? std::string_view() : found->value;
}

std::string_view find_python_call(std::string_view code, std::string_view name) {
  constexpr std::size_t kLongest = 1 << 14;
  std::size_t at = find_behind(code, name);
  while (at != std::string_view::npos && (at >= code.size() || code[at] != '('))
    at = find_behind(code, name, at);
  return at == std::string_view::npos ? std::string_view() : code.substr(at + 1, kLongest);
}

std::vector<PythonArgument> list_map_items(std::string_view map) {
  constexpr std::string_view kDict = "dict(", kQuotes = "\"'";
  if (map.starts_with(kDict)) return list_named_arguments(map.substr(kDict.size()));
  std::vector<PythonArgument> items;
  if (!map.starts_with('{')) return items;
  for (const std::string_view item : split_arguments(map.substr(1))) {
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(item.substr(0, colon));
    const bool quoted =
        key.size() > 1 && kQuotes.find(key.front()) != kQuotes.npos && key.back() == key.front();
    if (quoted) items.push_back({key.substr(1, key.size() - 2), trim(item.substr(colon + 1))});
  }
  return items;
}

std::string read_names(std::string_view list) {
  std::string names;
  if (list.find_first_of("\"'") == std::string_view::npos) return names;
  for (const char c : list) {
    if (shell::is_name(c) || c == '-' || c == ',')
      names += c;
    else if (std::string_view("[]\"' \n\t").find(c) == std::string_view::npos)
      return {};
  }
  while (names.ends_with(',')) names.pop_back();
  return names;
}

bool is_truth(std::string_view value) {
  return value != "False" && value != "false" && value != "None" && value != "0" && !value.empty();
}

std::optional<std::string> read_literal(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value == "True" || value == "False") return std::string(value);
  const char quote = value.front();
  if ((quote == '"' || quote == '\'') && value.size() > 1 && value.back() == quote &&
      value.find(quote, 1) == value.size() - 1)
    return std::string(value.substr(1, value.size() - 2));
  const bool number = value.find_first_not_of("0123456789.e-") == std::string_view::npos;
  return number ? std::optional(std::string(value)) : std::nullopt;
}

}  // namespace rankwright::importer
