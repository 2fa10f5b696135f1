// Evaluates a launch script without executing anything: follows assignments, expands variables, and
// decides conditions whose values are known. Values that only a running shell has (arguments,
// command output, environment variables) stay unknown and keep their names; a condition on such a
// value takes its first branch and is recorded as a guess. This is not a full shell: loops run
// once, and functions are run where they are defined.
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
  std::size_t at = 0;     // offset in the script
  std::size_t width = 1;  // characters in the script
  std::string unknown{};  // first variable without a value; if set, `text` is meaningless
};

/// One simple command, or the value of one assignment, split at blanks.
struct ShellCommand {
  std::vector<ShellWord> words;
  bool assigned = false;
};

/// The result of evaluating a script.
struct ShellScript {
  std::vector<ShellCommand> commands{};          // in order, without branches not taken
  std::map<std::string, ShellWord> variables{};  // final values; the first item of arrays
  std::vector<std::size_t> guesses{};  // conditions of unknown value whose first branch was taken
  bool cut = false;                    // the script exceeds the budget and was read in part
};

/// Evaluates the script `text`.
ShellScript read_shell(std::string_view text);

/// Evaluates an expression of `$(( ))` after expansion: whole numbers with + - * / % ** and
/// parentheses. Returns false if it is invalid or exceeds 64 bits.
bool evaluate_arithmetic(std::string_view expression, i64& value);

/// The value of a condition.
enum class Truth : unsigned char { no, yes, unknown };

/// Evaluates `[ words ]`, given without the brackets.
Truth evaluate_test(const std::vector<ShellWord>& words);

}  // namespace rankwright::importer
