// Reports the settings of a framework's file that nobody knows: neither the reader's table
// (foreign.h) nor the framework's list (known_keys.h) has them. One that is nearly a setting that
// decides the layout, or that speaks of one, is a warning (RW0617); the others are one note
// (RW0618).
#pragma once

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Reports that unknown settings are ignored, and names the first `most` of them (RW0618).
/// Requires: there is one, which `first` is.
void report_ignored_names(ForeignReading& reading, const YamlNode& first,
                          const std::vector<std::string>& names, std::size_t most);

/// Reports the unknown keys of `reading.root`, and returns the number of those that resemble none
/// that is known. Requires: `reading.known` is set.
std::size_t report_unknown_keys(ForeignReading& reading, std::span<const ForeignKey> rows);

}  // namespace rankwright::importer
