// Writes diagnostics as text with the source line and a caret, as JSON, and as SARIF.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

inline constexpr std::size_t kFindingWidth = 120;  // characters per line

/// Writes all findings in the given order, then their number by severity. `text` is the file that
/// most of them point into and `file` its name. Empty if there are no findings.
std::string render_findings_text(const Diagnostics& findings, std::string_view file,
                                 std::string_view text, const Paint& paint,
                                 std::size_t width = kFindingWidth);
/// Writes the findings alone, without their number.
std::string write_findings(const Diagnostics& findings, std::string_view file,
                           std::string_view text, const Paint& paint, std::size_t width);

/// Counts findings by severity: "2 errors, 1 warning".
std::string count_findings(const Diagnostics& findings);

/// Writes schema rankwright.check/1.
std::string make_findings_json(const Diagnostics& findings, std::string_view file);

/// A file and its findings.
struct FileFindings {
  std::string_view file;
  const Diagnostics& findings;
};
/// Writes schema rankwright.checks/1: the findings of each file.
std::string make_findings_json(std::span<const FileFindings> files);

/// Writes workflow commands of GitHub Actions, which shows them beside the line.
std::string render_findings_github(const Diagnostics& findings);

/// Writes SARIF 2.1.0, which code hosts and editors show beside the line.
std::string render_findings_sarif(const Diagnostics& findings, std::string_view version);

}  // namespace rankwright::report
