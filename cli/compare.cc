// `rankwright compare`: two plans side by side, or a plan and the log of its run, and what explains
// the difference.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/call.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/report_output.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/planner/run_input.h"
#include "rankwright/report/compare_json.h"
#include "rankwright/report/compare_text.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/gap_text.h"

namespace rankwright::cli {
namespace {

/// A plan that was read, and what was found in it.
struct Read {
  PlanInput input;
  Diagnostics findings;

  bool sound() const { return input.setup && misfits(*input.setup).empty(); }
  NamedPlan named() const { return {input.file.name, *input.setup}; }
};

/// One run calibrates both plans: what it says of `like` holds.
Read read(PlanFlags flags, const std::string& file, const Io& io, const Read* like = nullptr) {
  flags.plan = file;
  Read plan{.input = read_input(flags, io), .findings = {}};
  if (like != nullptr && like->input.setup && plan.input.setup)
    calibrate_by(*plan.input.setup, like->input.setup->calibrated);
  plan.findings = all_findings(plan.input, Target::any);
  return plan;
}

/// What was found that keeps a plan from being priced. Returns the exit code, kOk for none.
int refused(const Read& plan, const Io& io) {
  if (plan.sound()) return kOk;
  tell(plan.findings, plan.input.file.name, plan.input.file.text, io);
  return plan.input.setup ? kRefused : kUnreadable;
}

/// The plan against the log of a run of it.
int compare_log(const Read& plan, const std::string& file, bool markdown, const Options& options,
                const Io& io) {
  if (const int failed = refused(plan, io)) return failed;
  const Result<std::string> text = read_long_file(file, kMaxLogBytes);
  Result<RunLog> log = text ? read_run_log(*text, file) : fail(text.error());
  if (!log) {
    tell({log.error()}, file, {}, io);
    return kUnreadable;
  }
  const Setup& setup = *plan.input.setup;
  const std::optional<PlanFile> ran = plan_of_log(*text, file);
  GapView view = gap_view(setup, calibration(setup), *log, ran ? &*ran : nullptr);
  view.plan = excerpt(plan.input.file.name, 200);
  view.log = excerpt(file, 200);
  return options.write(options.json() ? gap_json(setup, view)
                       : markdown     ? gap_markdown(setup, view)
                                      : gap_text(setup, view, options.paint(io), io.prose()),
                       io);
}

}  // namespace

int compare(Args args, const Io& io) {
  Options options(verb("compare"));
  PlanFlags flags;
  std::string first, second, log, html;
  bool markdown = false;
  options.add("a", first, "a plan file or -").required();
  options.add("b", second, "another, which is compared with it");
  options.add("--log", log, "instead of b: the log of a run of a (Megatron-LM, torchtitan)");
  options.add_switch("--markdown", markdown, "write Markdown");
  options.add("--html", html, "draw both plans on one page: compare.html");
  flags.add_to(options);
  flags.add_calibration_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (second.empty() == log.empty()) {
    io.err << "rankwright compare: a plan is compared with another, or with the log of a run\n"
              "  help: rankwright compare a.yaml b.yaml, or compare a.yaml --log run.log\n";
    return kUsage;
  }
  if (!html.empty()) {
    if (!log.empty()) {
      io.err << "rankwright compare: --html draws two plans, and --log is of one\n"
                "  help: rankwright report a.yaml --measured trace.json\n";
      return kUsage;
    }
    if (const int missing = without_page("compare", io)) return missing;
  }
  if (!log.empty()) return compare_log(read(flags, first, io), log, markdown, options, io);
  if (first == "-" && second == "-") {
    io.err << "rankwright compare: standard input is one plan, not both\n"
              "  help: a file for one of the two\n";
    return kUsage;
  }

  const Read a = read(flags, first, io);
  flags.calibrate.clear();
  const Read b = read(flags, second, io, &a);
  int failed = kOk;
  for (const Read* plan : {&a, &b}) {
    const int code = refused(*plan, io);
    if (code != kOk) failed = failed == kOk ? code : std::min(failed, code);
  }
  if (failed != kOk) return failed;

  const CompareView view = compare_view(*a.input.setup, *b.input.setup);
  const std::string text =
      options.json() ? compare_json(a.named(), b.named(), view)
      : markdown     ? compare_markdown(a.named(), b.named(), view)
                     : compare_text(a.named(), b.named(), view, options.paint(io), io.prose());
  if (const int unwritten = options.write(text, io)) return unwritten;
  if (!html.empty()) {
    Report made = new_report("compare", args);
    for (const Read* plan : {&a, &b})
      made.plans.push_back(plan_report(plan->input.file.name, *plan->input.setup, plan->findings));
    made.compare = view;
    if (const int unwritten = save_page(made, html, options, io)) return unwritten;
  }
  for (const Read* plan : {&a, &b})
    if (!plan->findings.empty() && !options.quiet())
      io.err << fmt::format("{} · rankwright check {}\n", tally(plan->findings),
                            plan->input.file.name);
  return has_errors(a.findings) || has_errors(b.findings) ? kRefused : kOk;
}

}  // namespace rankwright::cli
