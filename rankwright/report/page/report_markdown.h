// A report as Markdown: a design document that says what was chosen, why, and what it costs, ready
// to be reviewed beside the code that it is about.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// `pictures` is the folder of the report's pictures, as the document names it; empty where there
/// is none.
std::string report_markdown(const Report& report, const std::string& pictures = "");

}  // namespace rankwright::report
