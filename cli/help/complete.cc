#include "cli/help/complete.h"

#include <algorithm>
#include <ostream>
#include <set>

namespace rankwright::cli {
namespace {

const OptionRow* find(const std::vector<OptionRow>& rows, std::string_view flag) {
  for (const OptionRow& row : rows)
    if (std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end()) return &row;
  return nullptr;
}

/// The position of the unfinished word on the command line.
struct Place {
  const OptionRow* awaited = nullptr;    // the flag whose value is unfinished
  std::vector<std::string> arguments{};  // positional arguments so far
  std::set<const OptionRow*> given{};
  bool only_arguments = false;  // after --
};

/// Reads the finished words after the verb.
Place place_after(Args words, const std::vector<OptionRow>& rows) {
  Place place;
  for (const std::string& word : words) {
    if (word == "=" && place.awaited != nullptr)
      continue;  // bash passes --flag=value as three words
    if (place.awaited != nullptr) {
      place.awaited = nullptr;
    } else if (place.only_arguments || !word.starts_with('-') || word == "-") {
      place.arguments.push_back(word);
    } else if (word == "--") {
      place.only_arguments = true;
    } else if (const OptionRow* const row = find(rows, word.substr(0, word.find('=')))) {
      place.given.insert(row);
      if (!row->type.empty() && word.find('=') == std::string::npos) place.awaited = row;
    }
  }
  return place;
}

std::vector<Candidate> flags_left(const Place& place, const std::vector<OptionRow>& rows) {
  std::vector<Candidate> all;
  for (const OptionRow& row : rows)
    if (row.repeats || !place.given.contains(&row))
      for (const std::string& flag : row.flags) all.push_back({flag, row.help});
  return all;
}

/// Returns the positional argument that comes next; a repeated last one stays.
const OptionRow* next_argument(const Place& place, const std::vector<OptionRow>& rows) {
  std::size_t taken = 0;
  for (const OptionRow& row : rows) {
    if (!row.positional()) continue;
    if (taken == place.arguments.size() || row.repeats) return &row;
    ++taken;
  }
  return nullptr;
}

Values for_verb(const Verb& verb, Args finished, const std::string& current) {
  const std::vector<OptionRow> rows = list_option_rows(verb);
  const Place place = place_after(finished, rows);
  const auto values = [&](const OptionRow& row) {
    return list_values(verb.name, row, place.arguments);
  };
  if (place.awaited != nullptr) return values(*place.awaited);
  const bool flag = !place.only_arguments && current.starts_with('-') && current != "-";
  const std::size_t equals = current.find('=');
  if (flag && equals != std::string::npos) {
    const OptionRow* const row = find(rows, current.substr(0, equals));
    if (row == nullptr || row->type.empty()) return {};
    Values found = values(*row);
    for (Candidate& one : found.names) one.word.insert(0, current, 0, equals + 1);
    return found;
  }
  if (flag || (!place.only_arguments && current == "-")) return {flags_left(place, rows)};
  if (const OptionRow* const row = next_argument(place, rows)) return values(*row);
  return {place.only_arguments ? std::vector<Candidate>() : flags_left(place, rows)};
}

Values for_any(Args words) {
  const std::string& first = words.front();
  if (words.size() == 1) {
    if (!first.starts_with('-')) return {list_verb_names()};
    return {{{"--help", "print help"}, {"--version", "print the version"}}};
  }
  if (first == "help") return {words.size() == 2 ? list_verb_names() : std::vector<Candidate>()};
  const std::span<const Verb> all = verbs();
  const auto verb =
      std::find_if(all.begin(), all.end(), [&](const Verb& one) { return one.name == first; });
  if (verb == all.end()) return {};
  return for_verb(*verb, words.subspan(1, words.size() - 2), words.back());
}

}  // namespace

Values list_completions(Args words) {
  if (words.empty()) return {};
  Values found = for_any(words);
  const std::string begun = words.back() == "=" ? "" : words.back();
  std::erase_if(found.names, [&](const Candidate& one) { return !one.word.starts_with(begun); });
  return found;
}

int complete(Args words, const Io& io) {
  const Values found = list_completions(words);
  for (const Candidate& one : found.names) {
    io.out << one.word;
    if (!one.help.empty()) io.out << '\t' << one.help;
    io.out << '\n';
  }
  if (found.files) io.out << ":files\n";
  return kOk;
}

}  // namespace rankwright::cli
