// A report as JSON, for the HTML page and for programs: schema rankwright.report/1. Quantities are
// in base units (bytes, seconds, fractions of 1), with the unit in the key; web/src/document.ts
// lists all keys. Parts that other commands print have the same form here.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// Writes the report on one line.
std::string make_report_json(const Report& report);

}  // namespace rankwright::report
