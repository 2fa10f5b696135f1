// A verb's command line as data, from which completions and manual pages are generated. options.cc
// derives it from the options that `rankwright help VERB` prints, so that all three agree.
#pragma once

#include <string>
#include <vector>

namespace rankwright::cli {

struct Verb;

/// One option or argument of a verb.
struct OptionRow {
  std::vector<std::string> flags{};  // "-o", "--output"; empty: a positional argument
  std::string name{};                // of a positional argument: "plan"
  std::string type{};                // of its value: "FILE"; empty: a switch
  std::string value{};               // the type with range and default, as in help
  std::string help{};
  std::string group{};
  bool required = false;
  bool repeats = false;

  bool positional() const { return flags.empty(); }
};

/// Returns the options of a verb in the order of its help, without running the verb.
std::vector<OptionRow> list_option_rows(const Verb& verb);

}  // namespace rankwright::cli
