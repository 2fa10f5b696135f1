// The report as one self-contained HTML page: the page that web/ builds, with a document embedded.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report {

/// The page that web/ builds. Empty if the program was built without Node.
extern const std::string_view kReportPage;

/// Embeds a document, as report_json() writes it, in the page.
std::string page_with(std::string_view page, std::string_view document);

}  // namespace rankwright::report
