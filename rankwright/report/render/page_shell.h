// The report as one HTML page that needs nothing else: what web/ builds, with a document put in.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report {

/// Empty where the program was built without Node.
extern const std::string_view kReportPage;

/// The page with a document put in, as report_json() writes it.
std::string page_with(std::string_view page, std::string_view document);

}  // namespace rankwright::report
