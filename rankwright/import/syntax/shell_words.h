// What a launch script says, without running it: assignments are followed, variables put in, and
// conditions decided where their values are known. Nothing is executed. What only a running shell
// could know (an argument, a command's output, a variable of the environment) stays unknown and has
// its name; of a condition on such a value the first branch is taken, and said to be. Not a shell:
// loops run once, functions where they stand.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::importer {

/// A word after all expansions.
struct ShellWord {
  std::string text;
  std::size_t at = 0;     // where it begins in the script
  std::size_t width = 1;  // characters there
  std::string unknown{};  // the first variable in it that has no value: then `text` says nothing
};

/// One simple command, or the value of one assignment, cut at blanks.
struct ShellCommand {
  std::vector<ShellWord> words;
  bool assigned = false;
};

struct ShellScript {
  std::vector<ShellCommand> commands{};          // in order, without branches that are not taken
  std::map<std::string, ShellWord> variables{};  // as they are at the end; of lists the first
  std::vector<std::size_t> guesses{};            // conditions that were taken without being known
  bool cut = false;                              // the script unfolds to more than is read
};

ShellScript read_shell(std::string_view text);

/// What `$(( ))` makes of an expression in which variables have been put in: whole numbers with
/// + - * / % ** and parentheses. False where it is none, or leaves 64 bits.
bool shell_arithmetic(std::string_view expression, i64& value);

/// What a condition comes to.
enum class Truth : unsigned char { no, yes, unknown };

/// `[ words ]`, without the brackets.
Truth shell_test(const std::vector<ShellWord>& words);

}  // namespace rankwright::importer
