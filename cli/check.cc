// `rankwright check`: reports all problems of a plan or a schedule at once.
#include "rankwright/planner/check.h"

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/target_flag.h"
#include "cli/verb.h"
#include "rankwright/report/explain/check_text.h"
#include "rankwright/report/explain/findings.h"

namespace rankwright::cli {
namespace {

/// Writes the findings as text, JSON or SARIF. Returns 0, or the exit code if writing failed.
int write_findings(const planner::CheckAnswer& answer, const Options& options, bool sarif,
                   const Io& io) {
  const Diagnostics& findings = answer.findings;
  if (options.json())
    return options.write(report::make_findings_json(findings, answer.file.name), io);
  if (sarif) return options.write(report::render_findings_sarif(findings, RANKWRIGHT_VERSION), io);
  return options.write(render_check_text(answer, options.paint(io), !options.quiet()), io);
}

}  // namespace

int check(Args args, const Io& io) {
  Options options(verb("check"));
  PlanFlags flags;
  TargetFlag target_flag;
  bool sarif = false;
  options.add("plan", flags.plan, "a plan file, - for standard input, or a schedule (.csv)")
      .required();
  target_flag.add_to(options, "also the rules of this framework; else of the plan's target");
  options.add_switch("--sarif", sarif, "write SARIF 2.1.0");
  flags.add_to(options);
  flags.add_calibration_to(options);
  flags.add_job_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const tl::expected<std::optional<rules::Target>, int> target = target_flag.read("check", io);
  if (!target) return target.error();
  const planner::Outcome<planner::CheckAnswer> answer =
      planner::check_plan({.plan = flags.source(io), .target = *target});
  if (!answer) return print_refusal("check", answer.error(), io);
  if (const int failed = write_findings(*answer, options, sarif, io)) return failed;
  if (!answer->readable) return kUnreadable;
  return has_errors(answer->findings) ? kRefused : kOk;
}

}  // namespace rankwright::cli
