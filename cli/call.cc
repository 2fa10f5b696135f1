#include "cli/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "rankwright/report/findings.h"

namespace rankwright::cli {
namespace {

int exit_code(Refusal::Kind kind) {
  switch (kind) {
    case Refusal::Kind::usage:
      return kUsage;
    case Refusal::Kind::unreadable:
      return kUnreadable;
    case Refusal::Kind::refused:
      return kRefused;
  }
  return kUsage;
}

}  // namespace

void tell(const Diagnostics& findings, std::string_view file, std::string_view text, const Io& io) {
  io.err << findings_text(findings, file, text, {});
  hand(findings, io);
}

void hand(const Diagnostics& findings, const Io& io) {
  if (io.call == nullptr) return;
  io.call->told.insert(io.call->told.end(), findings.begin(), findings.end());
}

int print_tally(const ValidPlan& plan, bool quiet, const Io& io) {
  if (!plan.findings.empty() && !quiet)
    io.err << fmt::format("{} · rankwright check {}\n", tally(plan.findings), plan.name());
  return has_errors(plan.findings) ? kRefused : kOk;
}

/// Each finding with the line of its own file.
std::string findings_in(const std::vector<SourceFile>& sources, const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings) {
    const auto source = std::find_if(sources.begin(), sources.end(), [&](const SourceFile& one) {
      return one.name == finding.where.file;
    });
    const bool known = source != sources.end();
    const std::string one =
        findings_text({finding}, known ? source->name : "", known ? source->text : "", {});
    text += one.substr(0, one.rfind('\n', one.size() - 2) + 1);  // without the count
  }
  return text;
}

int print_refusal(std::string_view verb, const Refusal& refusal, const Io& io) {
  if (refusal.sources) {
    io.err << findings_in(*refusal.sources, refusal.findings);
    hand(refusal.findings, io);
  } else if (!refusal.findings.empty()) {
    tell(refusal.findings, refusal.file.name, refusal.file.text, io);
  }
  if (!refusal.message.empty()) io.err << fmt::format("rankwright {}: {}\n", verb, refusal.message);
  if (!refusal.hint.empty()) io.err << fmt::format("  help: {}\n", refusal.hint);
  int code = exit_code(refusal.kind);
  for (const Refusal& other : refusal.also)
    code = std::min(code, print_refusal(verb, other, io));  // unreadable before refused
  return code;
}

int print_usage_fault(std::string_view verb, std::string message, std::string hint, const Io& io) {
  return print_refusal(verb, {.message = std::move(message), .hint = std::move(hint)}, io);
}

}  // namespace rankwright::cli
