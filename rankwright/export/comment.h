// Makes text safe for the comments of generated files. Tools act on comments: Python reads an
// encoding from them, editors read settings. Names from input therefore enter a comment only
// through safe_name(), and every comment line passes comment_line(). Values are quoted by quote.h,
// or by write_yaml_text() for YAML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

/// First line of every generated Python file. Python takes the encoding from the first line that
/// names one, so no later line can change it (PEP 263).
inline constexpr std::string_view kPythonEncoding = "# -*- coding: utf-8 -*-\n";

/// Returns `name` with every character replaced by '_' that is not a letter, a digit, a space or
/// one of ._-+/(). Longer names are cut to 64 characters, the last three being "...".
std::string safe_name(std::string_view name);

/// Returns `config` with safe_name() applied to every text that comes from input. Text derived from
/// the result, such as findings, may then enter comments.
plan::TrainingConfig make_names_safe(plan::TrainingConfig config);

/// Returns `line` as one line of at most 1,000 characters. It keeps printable ASCII and the few
/// other symbols that our own text uses, and replaces the rest with '?'. Encoding declarations and
/// editor settings are made inert: "coding:" becomes "coding_".
std::string comment_line(std::string_view line);

/// Returns each line after comment_line(), prefixed with `mark`: "# a
/// # b
/// ".
std::string write_comments(const std::vector<std::string>& lines, std::string_view mark);

}  // namespace rankwright::exporter
