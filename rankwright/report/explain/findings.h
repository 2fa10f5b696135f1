// Writes diagnostics as text with the source line and a caret, as JSON, and as SARIF.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// Writes all findings in the given order, then their number by severity. `text` is the file that
/// most of them point into and `file` its name. Empty if there are no findings.
std::string render_findings_text(const Diagnostics& findings, std::string_view file,
                                 std::string_view text, const Paint& paint);

/// Counts findings by severity: "2 errors, 1 warning".
std::string count_findings(const Diagnostics& findings);

/// Writes schema rankwright.check/1.
std::string make_findings_json(const Diagnostics& findings, std::string_view file);

/// Writes SARIF 2.1.0, which code hosts and editors show beside the line.
std::string render_findings_sarif(const Diagnostics& findings, std::string_view version);

}  // namespace rankwright::report
