// Diagnostics as people and machines read them: text with the line and a caret, JSON, SARIF.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// All findings, most severe first, then a line that counts them. `text` is the file that most of
/// them point into, named `file`. Empty where there are none.
std::string findings_text(const Diagnostics& findings, std::string_view file, std::string_view text,
                          const Paint& paint);

/// "2 errors, 1 warning".
std::string stats(const Diagnostics& findings);

/// Schema rankwright.check/1.
std::string findings_json(const Diagnostics& findings, std::string_view file);

/// SARIF 2.1.0: what code hosts and editors show beside the line.
std::string findings_sarif(const Diagnostics& findings, std::string_view version);

}  // namespace rankwright::report
