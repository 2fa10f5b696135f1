// Reports how the values of a launch script were found: variables without a value, defaults of
// variables that the script expects to be set, guessed conditions, and files that cannot be read.
#pragma once

#include <span>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// Adds these findings to `plan`, and the values that a script leaves open. `rows` are the keys
/// that matter, besides the reading's model keys.
void report_script_values(ForeignReading& reading, const ScriptFlags& flags,
                          std::span<const ForeignKey> rows, PlanFile& plan);

/// Returns ", by the default of $N": where a value comes from.
std::string describe_default(const std::string& variable);

}  // namespace rankwright::importer
