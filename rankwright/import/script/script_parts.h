// The parts of script_flags.cc. Private to the readers of scripts.
#pragma once

#include <string_view>

#include "rankwright/import/script/flag_collector.h"
#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer {

/// Adds the nodes and ranks that a launcher starts, and leaves open those that defaults of
/// variables give.
void add_launch(ScriptFlags& flags, const ShellScript& script, std::string_view text,
                const LocationIndex& locations);

/// Reads the first dump of arguments of a log. Later lines of this form are those of a restart, or
/// of other programs: the first value of an argument is kept.
ScriptFlags read_argument_dump(std::string_view text);

}  // namespace rankwright::importer
