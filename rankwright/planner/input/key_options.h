// The options that state a key of the job or the software in place of the plan file, one row each.
// `plan`, `check`, `explain` and `report` take all of them, on the command line and in Python.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/import/plan/plan_keys.h"

namespace rankwright::planner {

/// Option texts by option name without dashes: {"global-batch", "256"}. A switch has the text
/// "true".
using OptionTexts = std::map<std::string, std::string>;

/// An option that replaces the value of a plan-file key.
struct KeyOption {
  std::string_view name, key;  // "seq", "job.sequence"
};
std::span<const KeyOption> key_options();
inline constexpr std::string_view kJobOptionGroup = "Job and software";  // heading in help

/// Returns the row of a plan-file key. Requires: there is one.
const importer::KeyRow& find_key_row(std::string_view path);

/// Reads an option's value with the reader of the key that it replaces. Returns the finding if the
/// value is not accepted.
std::optional<Diagnostic> read_key_option(std::string_view name, std::string_view key,
                                          const std::string& value, importer::Draft& draft);

/// Applies the texts of key_options() to `draft`; other texts and empty ones are ignored. Returns
/// the first finding.
std::optional<Diagnostic> apply_key_options(const OptionTexts& texts, importer::Draft& draft);

}  // namespace rankwright::planner
