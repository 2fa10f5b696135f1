// `rankwright check`: everything that is wrong with a plan, or with a schedule, at once.
#include <fmt/format.h>

#include <ostream>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/target_flag.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/file.h"
#include "rankwright/planner/run_input.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/waterfall.h"
#include "rankwright/report/words.h"
#include "rankwright/rules/proof_findings.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {
namespace {

/// "64 = 8 x 4 x 2": the first thing that one checks by hand; what it comes to; and what was proved
/// of the pipeline.
std::string summary(const Setup& s, const std::optional<ProvedPlan>& proved) {
  const Plan& p = s.plan;
  std::string product = fmt::format("{} = tp {}", s.world, p.tp);
  if (p.cp > 1) product += fmt::format(" x cp {}", p.cp);
  product += fmt::format(" x pp {} x dp {}", p.pp, p.dp);
  std::string text = fmt::format("{}\n{}\n", product, chips(s));
  if (misfits(s).empty()) text += figures(s, close_estimate(s, calibration(s))) + "\n";
  if (s.calibrated) text += calibration_words(s) + "\n";
  if (proved)
    text += fmt::format("{}: {} actions on {} run to their end, with or without buffered sends\n",
                        name(s.plan.schedule), count(proved->actions),
                        plural(p.pp, "pp rank", "pp ranks"));
  return text + "\n";
}

/// What was checked: its name and text, and what is said of it where nothing is wrong.
struct Subject {
  const std::string& file;
  const std::string& text;
  std::string summary;
};

/// Text, JSON or SARIF; 0, or the exit code where it could not be written.
int write_findings(const Diagnostics& findings, const Subject& subject, const Options& options,
                   bool sarif, const Io& io) {
  if (options.json()) return options.write(findings_json(findings, subject.file), io);
  if (sarif) return options.write(findings_sarif(findings, RANKWRIGHT_VERSION), io);
  std::string text;
  if (!has_errors(findings) && !options.quiet()) text = subject.summary;
  text += findings.empty() ? "nothing found\n"
                           : findings_text(findings, subject.file, subject.text, options.paint(io));
  return options.write(text, io);
}

std::string schedule_summary(const CheckedSchedule& s) {
  return fmt::format(
      "{}, {}, {}: {} actions\nno rank waits for ever, with or without buffered sends; every send "
      "has its receive\n\n",
      plural(s.pp, "pp rank", "pp ranks"), plural(s.stages, "stage", "stages"),
      plural(s.microbatches, "microbatch", "microbatches"), count(s.actions));
}

/// A schedule file instead of a plan: cells, one line a pp rank.
int check_cells(const std::string& file, const Options& options, bool sarif, const Io& io) {
  Diagnostics findings;
  std::string text, summary;
  bool readable = false;
  const Result<std::string> read = read_file(file);
  if (!read) {
    findings.push_back(read.error());
  } else {
    text = *read;
    const Result<WrittenSchedule> written = parse_cells(text, file);
    readable = written.has_value();
    if (!written) {
      findings.push_back(written.error());
    } else {
      CheckedSchedule checked = check_schedule(*written);
      findings = std::move(checked.findings);
      summary = schedule_summary(checked);
    }
  }
  for (Diagnostic& d : findings)
    if (d.where.file.empty()) d.where.file = file;
  sort(findings);
  if (const int failed = write_findings(findings, {file, text, summary}, options, sarif, io))
    return failed;
  if (!readable) return kUnreadable;
  return has_errors(findings) ? kRefused : kOk;
}

}  // namespace

int check(Args args, const Io& io) {
  Options options(verb("check"));
  PlanFlags flags;
  TargetFlag target_flag;
  bool sarif = false;
  options.add("plan", flags.plan, "a plan file, - for standard input, or a schedule (.csv)")
      .required();
  target_flag.add_to(options, "also the rules of this framework");
  options.add_switch("--sarif", sarif, "write SARIF 2.1.0");
  flags.add_to(options);
  flags.add_calibration_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const tl::expected<Target, int> target = target_flag.read("check", io);
  if (!target) return target.error();
  if (flags.plan.ends_with(".csv")) {
    if (*target != Target::any ||
        (!flags.model.empty() || !flags.cluster.empty() || flags.world || !flags.calibrate.empty()))
      return options.about_a_plan("--for, --model and --cluster", io);
    return check_cells(flags.plan, options, sarif, io);
  }
  const PlanInput input = read_input(flags, io);
  Diagnostics findings = all_findings(input, *target);
  std::optional<ProvedPlan> proved;
  if (input.setup && misfits(*input.setup).empty()) {
    proved = prove_plan(*input.setup);
    if (proved) findings.insert(findings.end(), proved->findings.begin(), proved->findings.end());
    sort(findings);
  }
  const Subject subject{
      input.file.name, input.file.text,
      input.setup && !has_errors(findings) ? summary(*input.setup, proved) : std::string()};
  if (const int failed = write_findings(findings, subject, options, sarif, io)) return failed;
  if (!input.setup) return kUnreadable;
  return has_errors(findings) ? kRefused : kOk;
}

}  // namespace rankwright::cli
