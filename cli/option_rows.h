// A verb's command line as data: what completions and manual pages are made of. It is read off the
// same CLI11 options that `rankwright help VERB` prints, so that none of them can say more or less.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

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

/// In the order in which help prints them.
std::vector<OptionRow> option_rows(const CLI::App& app);

/// What the verb would take, without running it.
std::vector<OptionRow> option_rows(const Verb& verb);

}  // namespace rankwright::cli
