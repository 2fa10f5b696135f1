// The values that a flag or argument accepts, for completions: names from the tables that the verbs
// use, and whether a file is accepted. The verbs themselves validate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/option_rows.h"
#include "cli/verb.h"

namespace rankwright::cli {

/// A word that may be typed, and its help.
struct Candidate {
  std::string word;
  std::string help{};
};

/// The values that may be typed at one position.
struct Values {
  std::vector<Candidate> names{};
  bool files = false;
};

/// Returns the values of an option. `before` are the positional arguments before it: the kind, for
/// a name of `catalog`.
Values list_values(std::string_view verb, const OptionRow& row, Args before);

/// Returns every verb that can be typed, including `help`.
std::vector<Candidate> list_verb_names();

/// Returns the words that a description lists: "none" and "full" of "none, full, or {full: N} for N
/// layers"; nothing if there are fewer than two.
std::vector<std::string> listed_words(std::string_view description);

}  // namespace rankwright::cli
