// The text of a program in Python, which is read and never executed: its statements, and the values
// of the names in it as far as literals state them. The readers of recipes know their meaning.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::importer {

/// Replaces comments and strings in triple quotes by blanks; keeps lines and offsets.
std::string blank_python_comments(std::string text);

/// Returns whether the text is a name with attributes: "a.b".
bool is_dotted_name(std::string_view text);

/// One statement, with all lines that its brackets span.
struct PythonStatement {
  std::size_t indent = 0;
  std::string_view text{};  // without blanks around it
  int line = 0;
};

/// Returns the statements of a text without comments.
std::vector<PythonStatement> split_statements(std::string_view text);

/// Splits the arguments of a call at the commas outside brackets and texts, up to its end.
std::vector<std::string_view> split_arguments(std::string_view text);

/// One argument or parameter: "name=value", "name: type = value", or a value alone.
struct PythonArgument {
  std::string_view name{}, value{};
};
PythonArgument parse_argument(std::string_view text);

/// The value of a name or an expression.
struct PythonValue {
  std::string text{};     // of a literal, without quotes
  std::string assumed{};  // the parameter or option whose default it is; empty if it is stated
};

/// The names whose values are known at one place of a program.
class PythonScope {
 public:
  /// Sets a name, of the module or of the function that is read; nothing makes it unknown.
  void set(std::string_view name, std::optional<PythonValue> value, bool global);
  /// Forgets the names of the function that was read.
  void leave_function() { locals_.clear(); }

  /// Returns the value of a literal, of a name, or of an expression of whole numbers; nothing if it
  /// is unknown.
  std::optional<PythonValue> find(std::string_view text) const;
  /// Returns whether a condition holds; nothing if that is unknown.
  std::optional<bool> test(std::string_view condition) const;

 private:
  using Names = std::map<std::string, PythonValue, std::less<>>;

  const PythonValue* find_name(std::string_view name) const;
  /// The operands that an expression may have besides whole numbers, and a default among them.
  struct Evaluation {
    bool texts = false;          // texts, which only compare
    bool compares_none = false;  // `is None`
    std::string assumed{};       // the first name that has its default
  };
  std::optional<i64> evaluate(std::string_view text, Evaluation& state) const;
  std::optional<i64> evaluate_name(std::string_view name, Evaluation& state) const;

  Names globals_{}, locals_{};
};

}  // namespace rankwright::importer
