// `rankwright report`: writes a plan and its alternatives for the same job as an HTML page, a
// document or pictures.
#include "rankwright/planner/report.h"

#include <utility>

#include "cli/io/interrupt.h"
#include "cli/io/print_refusal.h"
#include "cli/io/progress.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/report_output.h"
#include "cli/target_flag.h"
#include "cli/training_flags.h"
#include "cli/verb.h"
#include "rankwright/planner/plan/source_files.h"

namespace rankwright::cli {
namespace {

struct ReportRequestFlags {
  PlanFlags plan;
  ReportFlags output{};
  TargetFlag target{};
  std::string measured{};
  TrainingFlags training{};
  bool no_search = false;
};

}  // namespace

int report(Args args, const Io& io) {
  Options options(verb("report"));
  ReportRequestFlags flags;
  options.add("plan", flags.plan.plan, "plan file, or - for standard input").required();
  flags.output.add_to(options);
  options.add("--measured", flags.measured,
              "trace of a run of this plan, drawn below the prediction");
  flags.training.add_to(options);
  options.add_switch("--no-search", flags.no_search,
                     "skip the search for alternatives, which takes seconds");
  flags.target.add_to(
      options, "search only layouts that this framework can run; default: the plan's target");
  flags.plan.add_to(options);
  flags.plan.add_calibration_to(options);
  flags.plan.add_job_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  const tl::expected<std::optional<rules::Target>, int> target = flags.target.read("report", io);
  if (!target) return target.error();
  if (const int refused = flags.output.refuse(flags.plan.plan, options, io)) return refused;

  planner::Outcome<planner::TrainingRequest> training = flags.training.read();
  if (!training) return print_refusal("report", training.error(), io);
  planner::ReportRequest request{.plan = flags.plan.source(io), .target = *target};
  if (!flags.measured.empty()) request.measured = planner::read_trace_source(flags.measured);
  request.training = std::move(*training);
  request.search = !flags.no_search;
  const Interrupt interrupt;
  ProgressLine line(io, options.quiet());
  planner::Outcome<planner::PlanReport> plan =
      report_plan(request, make_search_control(line, interrupt));
  line.clear();
  if (!plan) return print_refusal("report", plan.error(), io);
  report::Report made = new_report("report", args);
  made.plans.push_back(std::move(*plan));
  if (const int failed = flags.output.write(made, options, io)) return failed;
  const planner::PlanReport& reported = made.plans.front();
  if (reported.search && reported.search->stopped == planner::StopReason::asked)
    return kInterrupted;
  return has_errors(reported.findings) ? kRefused : kOk;
}

}  // namespace rankwright::cli
