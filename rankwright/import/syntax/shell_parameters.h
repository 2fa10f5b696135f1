// The operators of `${NAME...}`: parts of a value, or other text in place of some.
// Private to shell_*.cc.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer::shell {

/// Returns whether all of `text` has the form of a pattern, in which `*` is any text and `?` any
/// character. Others of its characters, brackets too, mean themselves.
bool matches_pattern(std::string_view pattern, std::string_view text);

/// Applies the operator of `${NAME#prefix}`, `${NAME%.*}`, `${NAME/old/new}`, `${NAME:0:1}` or
/// `${NAME,,}`, whose variables are expanded. Returns nothing for other operators, and for those
/// that an unknown value in the text decides.
std::optional<Text> apply_operator(const Text& value, std::string_view op);

}  // namespace rankwright::importer::shell
