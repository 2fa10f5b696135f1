// What may be typed where a verb takes a value: names from the tables that the verbs themselves
// look them up in, and whether a file may stand there. For completions; the verbs decide what is
// right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/option_rows.h"
#include "cli/verb.h"

namespace rankwright::cli {

struct Candidate {
  std::string word;
  std::string help{};
};

struct Values {
  std::vector<Candidate> names{};
  bool files = false;
};

/// `before` are the arguments without a flag that stand before it: the kind, for a name of
/// `catalog`.
Values values_of(std::string_view verb, const OptionRow& row, Args before);

/// Every verb that can be typed, `help` too.
std::vector<Candidate> verb_names();

/// Of "none, full, or {full: N} for N layers" the words none and full; nothing where a value's
/// description lists fewer than two.
std::vector<std::string> listed_words(std::string_view description);

}  // namespace rankwright::cli
