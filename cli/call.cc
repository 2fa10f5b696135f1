#include "cli/call.h"

#include <ostream>

#include "rankwright/report/findings.h"

namespace rankwright::cli {

void tell(const Diagnostics& findings, std::string_view file, std::string_view text, const Io& io) {
  io.err << findings_text(findings, file, text, {});
  hand(findings, io);
}

void hand(const Diagnostics& findings, const Io& io) {
  if (io.call == nullptr) return;
  io.call->told.insert(io.call->told.end(), findings.begin(), findings.end());
}

}  // namespace rankwright::cli
