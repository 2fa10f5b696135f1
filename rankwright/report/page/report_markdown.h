// A report as Markdown: a design document that states the chosen plan, the reasons, and its cost,
// ready for review beside the code.
#pragma once

#include <string>

#include "rankwright/report/page/report_view.h"

namespace rankwright::report {

/// Writes the document. `pictures` is the folder of the report's pictures, relative to the
/// document; empty if there are none.
std::string render_report_markdown(const Report& report, const std::string& pictures = "");

}  // namespace rankwright::report
