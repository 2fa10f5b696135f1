// The report as one self-contained HTML page: the page that web/ builds, with a document embedded.
#pragma once

#include <string>
#include <string_view>

namespace rankwright::report {

/// The page that web/ builds. Empty if the program was built without Node.
extern const std::string_view kReportPage;

/// Embeds a document, the JSON of report_json.h, in the page. Requires: `page` has its
/// placeholder.
std::string embed_document(std::string_view page, std::string_view document);

}  // namespace rankwright::report
