// Reports the settings of a framework's file that nobody knows: neither the reader's table
// (foreign.h) nor the framework's list (known_keys.h) has them. One that is nearly a setting that
// decides the layout, or that speaks of one, is a warning (RW0617); the others are one note
// (RW0618).
#pragma once

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Reports the unknown keys of `reading.root`. Requires: `reading.known` is set.
void report_unknown_keys(ForeignReading& reading, std::span<const ForeignKey> rows);

}  // namespace rankwright::importer
