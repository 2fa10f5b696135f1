// A report for the page and for machines: schema rankwright.report/1. Quantities are in base units
// (bytes, seconds, shares of 1), with the unit in the key; web/src/document.ts has every key. Parts
// that other verbs print are in it as they are there.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// One line.
std::string report_json(const Report& report);

}  // namespace rankwright::report
