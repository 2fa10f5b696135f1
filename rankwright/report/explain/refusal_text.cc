#include "rankwright/report/explain/refusal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/report/explain/findings.h"

namespace rankwright::report {
namespace {

int exit_code(planner::Refusal::Kind kind) {
  switch (kind) {
    case planner::Refusal::Kind::usage:
      return 64;
    case planner::Refusal::Kind::unreadable:
      return 1;
    case planner::Refusal::Kind::refused:
      return 2;
  }
  return 64;
}

}  // namespace

std::string render_refusal_text(std::string_view verb, const planner::Refusal& refusal) {
  std::string text = refusal.sources ? render_findings_in(*refusal.sources, refusal.findings)
                                     : render_findings_text(refusal.findings, refusal.file.name,
                                                            refusal.file.text, {});
  if (!refusal.message.empty()) text += fmt::format("rankwright {}: {}\n", verb, refusal.message);
  if (!refusal.hint.empty()) text += fmt::format("  help: {}\n", refusal.hint);
  for (const planner::Refusal& other : refusal.also) text += render_refusal_text(verb, other);
  return text;
}

int exit_code(const planner::Refusal& refusal) {
  int code = exit_code(refusal.kind);
  for (const planner::Refusal& other : refusal.also) code = std::min(code, exit_code(other));
  return code;
}

Diagnostics collect_findings(const planner::Refusal& refusal) {
  Diagnostics all = refusal.findings;
  for (const planner::Refusal& other : refusal.also) {
    const Diagnostics more = collect_findings(other);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string render_findings_in(const std::vector<planner::SourceFile>& sources,
                               const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings) {
    const auto source = std::find_if(
        sources.begin(), sources.end(),
        [&](const planner::SourceFile& one) { return one.name == finding.where.file; });
    const bool known = source != sources.end();
    const std::string one =
        render_findings_text({finding}, known ? source->name : "", known ? source->text : "", {});
    text += one.substr(0, one.rfind('\n', one.size() - 2) + 1);  // without the count
  }
  return text;
}

}  // namespace rankwright::report
