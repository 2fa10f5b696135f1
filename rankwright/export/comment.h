// Comments of generated files. Tools act on comments too: Python takes an encoding from one,
// editors take settings. So a name from input enters a comment only through safe_name(), and every
// comment line passes comment_line(). Values are quoted instead: quote.h, and typed_text() for
// YAML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

/// The first line of every generated Python file. Python takes the encoding from the first line
/// that names one, so no later line can name another (PEP 263).
inline constexpr std::string_view kPythonEncoding = "# -*- coding: utf-8 -*-\n";

/// Returns `name` with every character replaced by '_' that is not a letter, a digit, a space or
/// one of ._-+/(); cut to 64 characters, the last three then being "...".
std::string safe_name(std::string_view name);

/// Returns `config` with every text that comes from input as safe_name() returns it. Texts about
/// the result, such as findings, may enter comments.
plan::TrainingConfig with_safe_names(plan::TrainingConfig config);

/// Returns `line` as one line of ASCII and of the few other signs that our own lines have, with '?'
/// for the rest; cut to 1,000 characters. An encoding or an editor's setting in it is defused:
/// "coding:" becomes "coding_".
std::string comment_line(std::string_view line);

/// Returns each line behind `mark`, as comment_line() returns it: "# a\n# b\n".
std::string commented(const std::vector<std::string>& lines, std::string_view mark);

}  // namespace rankwright::exporter
