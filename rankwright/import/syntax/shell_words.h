// Evaluates a launch script without executing anything: follows assignments, expands variables, and
// decides conditions whose values are known. Values that only a running shell has (arguments,
// command output, environment variables) stay unknown and keep their names; a condition on such a
// value takes its first branch and is recorded as a guess. This is not a full shell: loops run
// once, and `while` with an unknown condition not at all.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

/// A word after all expansions.
struct ShellWord {
  std::string text;
  std::size_t at = 0;        // offset in the script
  std::size_t width = 1;     // characters in the script
  std::string unknown{};     // first variable without a value; if set, `text` is meaningless
  std::string tail{};        // text after the last variable without a value
  std::string default_of{};  // first unset variable whose default is used; "?X": a condition on X
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
  std::set<std::string> used{};        // variables of the input that the script used
  std::map<std::string, std::string> defaults{};  // of unset variables, where the script has them
  std::vector<std::size_t> cut_off{};             // flags that the end of a line cuts off
  std::vector<std::string> sources{};             // files that it sources and that cannot be read
  std::map<std::string, std::string> written{};   // texts of the configs that it writes, by name
  bool cut = false;  // the script exceeds the budget and was read in part
};

/// The surroundings of a running script: variables, and the files that it sources.
struct ShellInput {
  std::map<std::string, std::string> variables{};  // values given by the user, "1" for $1
  /// Returns the value of an environment variable. Null: none is known.
  std::function<std::optional<std::string>(const std::string& name)> environment{};
  std::string file{};  // name of the script
  /// Reads the files that the script sources. Null: none is read.
  FileReader files{};
};

/// Evaluates the script `text`.
ShellScript read_shell(std::string_view text, const ShellInput& input = {});

/// Evaluates an expression of `$(( ))` after expansion: whole numbers with + - * / % **,
/// comparisons, && || !, `a ? b : c` and parentheses. Returns false if it is invalid or exceeds 64
/// bits.
bool evaluate_arithmetic(std::string_view expression, i64& value);

/// The value of a condition.
enum class Truth : unsigned char { no, yes, unknown };

/// Evaluates `[ words ]`, given without the brackets.
Truth evaluate_test(const std::vector<ShellWord>& words);

}  // namespace rankwright::importer
