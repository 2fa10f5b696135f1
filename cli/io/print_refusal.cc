#include "cli/io/print_refusal.h"

#include <fmt/format.h>

#include <ostream>

#include "rankwright/base/shell_word.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/explain/refusal_text.h"
#include "rankwright/report/render/table.h"

namespace rankwright::cli {

void print_findings(const Diagnostics& findings, std::string_view file, std::string_view text,
                    const Io& io) {
  io.err << report::render_findings_text(findings, file, text, {}, io.width);
}

int print_finding_counts(const planner::ValidPlan& plan, bool quiet, const Io& io) {
  if (!plan.findings.empty() && !quiet)
    io.err << fmt::format("{} · rankwright check {}\n", report::count_findings(plan.findings),
                          quote_shell_path(plan.name()));
  return has_errors(plan.findings) ? kRefused : kOk;
}

int print_refusal(std::string_view verb, const planner::Refusal& refusal, const Io& io) {
  io.err << report::fit_lines(report::render_refusal_text(verb, refusal), io.width);
  return report::exit_code(refusal);
}

int print_usage_fault(std::string_view verb, std::string message, std::string hint, const Io& io) {
  return print_refusal(verb, planner::make_usage_refusal(std::move(message), std::move(hint)), io);
}

}  // namespace rankwright::cli
