// Calls and assignments in the text of a program in Python, with the values that literals state.
// The program is read and never executed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/syntax/python_text.h"

namespace rankwright::importer {

/// Returns the value that a program assigns to a name, or has as the default of a parameter:
/// `lora_r: int = 8`. Empty if there is none.
std::string_view find_assigned(std::string_view code, std::string_view name);

/// Returns the named arguments at the beginning of a text, up to the end of their call.
std::vector<PythonArgument> list_named_arguments(std::string_view text);

/// Returns the value of a named argument; empty if there is none.
std::string_view find_argument(const std::vector<PythonArgument>& arguments, std::string_view name);

/// Returns the text behind the bracket of the first call of `name`; empty if there is none.
std::string_view find_python_call(std::string_view code, std::string_view name);

/// Returns the items of `{"a": 1}` or `dict(a=1)`, by their names without quotes; nothing for other
/// expressions.
std::vector<PythonArgument> list_map_items(std::string_view map);

/// Joins the names of a list: `["q_proj", "v_proj"]`. Empty if it is another expression.
std::string read_names(std::string_view list);

/// Returns whether a value of a literal counts as true.
bool is_truth(std::string_view value);

/// Returns the value of a number, a word of Python or a text; nothing for other expressions.
std::optional<std::string> read_literal(std::string_view value);

}  // namespace rankwright::importer
