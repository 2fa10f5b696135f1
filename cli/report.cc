// `rankwright report`: a plan on one page, as a document, or as pictures, and what else could be
// chosen for the same job.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/call.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/plan_problem.h"
#include "cli/progress.h"
#include "cli/report_output.h"
#include "cli/target_flag.h"
#include "cli/verb.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/file.h"
#include "rankwright/report/report_words.h"

namespace rankwright::cli {
namespace {

struct ReportRequestFlags {
  PlanFlags plan;
  ReportFlags output{};
  TargetFlag target{};
  std::string measured{};
  bool no_search = false;
};

/// What else there is, around this plan.
PlanView search_around(const Priced& plan, const Draft& stated, Target target, ProgressLine& line,
                       const Interrupt& interrupt) {
  const Calibration& constants = calibration(plan.setup);
  PlanView view{.problem = open_problem(plan.setup, stated, {.target = target})};
  SearchOptions options{.balance = std::make_shared<Balance>()};
  options.go_on = [&](const SearchProgress& progress) {
    line.show(progress);
    return !interrupt.asked();
  };
  view.answer = answer(view.problem, constants, options);
  view.stopped = interrupt.asked();
  if (view.stopped) return view;
  line.doing("why not otherwise");
  line.show({});
  Answer around = view.answer;
  around.best = plan;
  view.neighbours = neighbours(view.problem, around, constants, options);
  view.stopped = interrupt.asked();
  return view;
}

/// The trace of a run of this plan. Or the exit code, with what is wrong printed.
tl::expected<RunTrace, int> read_measured(const std::string& file, const Setup& setup,
                                          const Io& io) {
  const Result<std::string> text = read_long_file(file, TraceLimits{}.bytes);
  Result<RunTrace> run = text ? read_run_trace(*text, file) : fail(text.error());
  if (!run) {
    tell({run.error()}, file, {}, io);
    return tl::unexpected<int>(kUnreadable);
  }
  const std::string mismatch = trace_mismatch(setup, *run);
  if (mismatch.empty()) return std::move(*run);
  io.err << fmt::format(
      "rankwright report: {} is of another plan: {}\n  help: rankwright run PLAN --trace FILE "
      "writes one of this\n",
      file, mismatch);
  return tl::unexpected<int>(kRefused);
}

}  // namespace

int report(Args args, const Io& io) {
  Options options(verb("report"));
  ReportRequestFlags flags;
  options.add("plan", flags.plan.plan, "a plan file or -").required();
  flags.output.add_to(options);
  options.add("--measured", flags.measured,
              "the trace of a run of it, drawn beside what was predicted");
  options.add_switch("--no-search", flags.no_search,
                     "leave out what else could be chosen: a search takes seconds");
  flags.target.add_to(options, "search only what this framework runs without a warning");
  flags.plan.add_to(options);
  flags.plan.add_calibration_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  const tl::expected<Target, int> target = flags.target.read("report", io);
  if (!target) return target.error();
  if (const int refused = flags.output.refuse(flags.plan.plan, options, io)) return refused;

  const PlanInput input = read_input(flags.plan, io);
  const Diagnostics findings = all_findings(input, *target);
  if (!input.setup || !misfits(*input.setup).empty()) {
    tell(findings, input.file.name, input.file.text, io);
    return input.setup ? kRefused : kUnreadable;
  }
  std::optional<RunTrace> measured;
  if (!flags.measured.empty()) {
    tl::expected<RunTrace, int> run = read_measured(flags.measured, *input.setup, io);
    if (!run) return run.error();
    measured = std::move(*run);
  }
  const Interrupt interrupt(io);
  ProgressLine line(io, options.quiet());
  Report made = new_report("report", args);
  PlanReport& plan = made.plans.emplace_back(plan_report(input.file.name, *input.setup, findings));
  plan.measured = std::move(measured);
  if (!flags.no_search && !input.setup->reference_model)
    add_search(plan, search_around(plan.priced(), input.file.draft, *target, line, interrupt));
  line.clear();
  if (const int failed = flags.output.write(made, options, io)) return failed;
  return plan.search && plan.search->stopped ? kInterrupted : kOk;
}

}  // namespace rankwright::cli
