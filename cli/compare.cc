// `rankwright compare`: compares two plans, or a plan and the log of its run, and explains the
// difference.
#include "rankwright/planner/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/report_output.h"
#include "cli/training_flags.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/planner/plan/plan_amounts.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/report/compare/compare_json.h"
#include "rankwright/report/compare/compare_text.h"
#include "rankwright/report/compare/gap_text.h"

namespace rankwright::cli {
namespace {

report::NamedPlan named(const planner::ValidPlan& plan) { return {plan.name(), plan.config()}; }

/// Compares the plan with the log of its run.
int compare_log(const PlanFlags& flags, const std::string& log, bool markdown,
                const Options& options, const Io& io) {
  const planner::Outcome<planner::CompareLogAnswer> answer =
      planner::compare_with_log({.plan = flags.source(io), .log = planner::read_log_source(log)});
  if (!answer) return print_refusal("compare", answer.error(), io);
  const plan::TrainingConfig& config = answer->plan.config();
  const planner::GapView& view = answer->view;
  return options.write(options.json() ? report::make_gap_json(config, view)
                       : markdown     ? report::render_gap_markdown(config, view)
                                  : render_gap_text(config, view, options.paint(io), io.prose()),
                       io);
}

/// Writes both plans as one HTML page.
int draw(const planner::CompareAnswer& answer, Args args, const std::string& path,
         const Options& options, const Io& io) {
  report::Report made = new_report("compare", args);
  for (const planner::ValidPlan* plan : {&answer.a, &answer.b})
    made.plans.push_back(planner::build_plan_report(plan->name(), plan->config(), plan->findings));
  made.compare = answer.view;
  return save_page(made, path, options, io);
}

/// Returns kRefused, and says why, if plan B takes more time than `max` allows relative to plan A.
/// A plan A that cannot run has no time to compare with.
int judge_slowdown(const planner::CompareView& view, double max, const Io& io) {
  if (!view.a_can_run() || view.change() <= max) return kOk;
  io.err << fmt::format("compare: B takes {} more time than A; --max-slowdown allows {}\n",
                        format_exact_percent(view.change()), format_exact_percent(max));
  return kRefused;
}

}  // namespace

int compare(Args args, const Io& io) {
  Options options(verb("compare"));
  PlanFlags flags;
  std::string& first = flags.plan;
  std::string second, log, html, max_slowdown;
  bool markdown = false;
  options.add("a", first, "plan file, or - for standard input").required();
  options.add("b", second, "second plan file");
  options.add("--log", log, "log of a run of plan a, instead of b (Megatron-LM, torchtitan)");
  options.add_switch("--markdown", markdown, "write Markdown");
  options.add("--html", html, "write an interactive HTML report of both plans: compare.html");
  options.add("--max-slowdown", max_slowdown,
              "fail if b is slower than a by more than this: 5%; errors of a are then ignored");
  TrainingFlags whole_run;
  whole_run.add_to(options);
  whole_run.add_deadline_to(options);
  flags.add_to(options);
  flags.add_calibration_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (second.empty() == log.empty()) return print_refusal("compare", planner::refuse_sides(), io);
  if (!html.empty()) {
    if (!log.empty())
      return print_usage_fault("compare", "--html needs two plans, and --log has one",
                               "rankwright report a.yaml --measured trace.json", io);
    if (const int missing = refuse_missing_page("compare", io)) return missing;
  }
  planner::Outcome<planner::TrainingRequest> training = whole_run.read();
  if (!training) return print_refusal("compare", training.error(), io);
  if (!log.empty() && training->tokens)
    return print_usage_fault("compare", "--tokens needs two plans, and --log has one",
                             "rankwright compare a.yaml b.yaml --tokens 15T", io);
  std::optional<double> max;
  if (!max_slowdown.empty()) {
    if (!log.empty())
      return print_usage_fault("compare", "--max-slowdown needs two plans, and --log has one",
                               "rankwright compare a.yaml b.yaml --max-slowdown 5%", io);
    const Result<double> read = planner::parse_slowdown(max_slowdown);
    if (!read)
      return print_usage_fault("compare", "--max-slowdown: " + read.error().detail,
                               "--max-slowdown 5%", io);
    max = *read;
  }
  if (!log.empty()) return compare_log(flags, log, markdown, options, io);
  if (first == "-" && second == "-")
    return print_usage_fault("compare", "standard input cannot be both plans",
                             "pass a file for one of them", io);

  planner::CompareRequest request{.a = flags.source(io)};
  request.b = request.a;
  request.b.plan = read_source(second, io);
  request.training = std::move(*training);
  const planner::Outcome<planner::CompareAnswer> answer = compare_plans(request);
  if (!answer) return print_refusal("compare", answer.error(), io);
  const report::NamedPlan a = named(answer->a), b = named(answer->b);
  const planner::CompareView& view = answer->view;
  const std::string text = options.json() ? make_compare_json(a, b, view)
                           : markdown
                               ? render_compare_markdown(a, b, view)
                               : render_compare_text(a, b, view, options.paint(io), io.prose());
  if (const int unwritten = options.write(text, io)) return unwritten;
  if (!html.empty())
    if (const int unwritten = draw(*answer, args, html, options, io)) return unwritten;
  const int code_a = print_finding_counts(answer->a, options.quiet(), io);
  const int code_b = print_finding_counts(answer->b, options.quiet(), io);
  return max ? std::max(judge_slowdown(view, *max, io), code_b) : std::max(code_a, code_b);
}

}  // namespace rankwright::cli
