// The files of an export for machines.
#pragma once

#include <string>

#include "rankwright/planner/export.h"

namespace rankwright::report {

/// Schema rankwright.export/1: names and texts of the files, and what they cannot express.
std::string export_json(const planner::ExportAnswer& answer);

}  // namespace rankwright::report
