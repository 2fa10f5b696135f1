// A verb's command line as data: what completions and manual pages are made of. options.cc
// reads it off the options that `rankwright help VERB` prints, so that none can say more or less.
#pragma once

#include <string>
#include <vector>

namespace rankwright::cli {

struct Verb;

struct OptionRow {
  std::vector<std::string> flags{};  // "-o", "--output"; none: an argument without a flag
  std::string name{};                // of such an argument: "plan"
  std::string type{};                // what it takes: "FILE"; empty: a switch
  std::string value{};               // the same with range and default, as help has it
  std::string help{};
  std::string group{};
  bool required = false;
  bool repeats = false;

  bool positional() const { return flags.empty(); }
};

/// What the verb would take, without running it, in the order in which help prints it.
std::vector<OptionRow> option_rows(const Verb& verb);

}  // namespace rankwright::cli
