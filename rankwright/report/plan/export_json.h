// The files of an export as JSON.
#pragma once

#include <string>

#include "rankwright/planner/export.h"

namespace rankwright::report {

/// Writes schema rankwright.export/1: the names and texts of the files, and the settings that they
/// cannot express.
std::string make_export_json(const planner::ExportAnswer& answer);

}  // namespace rankwright::report
