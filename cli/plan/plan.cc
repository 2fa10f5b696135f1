// `rankwright plan`: finds the fastest layout of a model on a cluster, and explains why not
// another.
#include "rankwright/planner/plan.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

#include "cli/io/interrupt.h"
#include "cli/io/print_refusal.h"
#include "cli/io/progress.h"
#include "cli/options.h"
#include "cli/plan/plan_flags.h"
#include "cli/report_output.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/plan/counts_text.h"
#include "rankwright/report/plan/plan_file_text.h"
#include "rankwright/report/plan/plan_json.h"
#include "rankwright/report/plan/plan_screen.h"
#include "rankwright/report/plan/plan_text.h"

namespace rankwright::cli {
namespace {

/// The command line and the outputs of its answer.
struct Output {
  Args args;
  bool markdown = false, verbose = false, top = false;
  std::string html{};  // file of the HTML page
  const Options& options;
  const Io& io;

  std::string command() const { return report::format_command_line("plan", args); }
};

/// Writes the page of the best plan, or of the leanest if nothing fits, if it is requested.
int draw(const planner::PlanAnswer& answer, const std::string& saved, const Output& to) {
  if (to.html.empty()) return kOk;
  if (!can_report(answer)) {
    to.io.err << fmt::format("rankwright plan: no layout is possible, so {} was not written\n",
                             to.html);
    return kOk;
  }
  report::Report made = new_report("plan", to.args);
  made.plans.push_back(report_found_plan(saved.empty() ? "plan.yaml" : saved, answer));
  return save_page(made, to.html, to.options, to.io);
}

/// Saves the plan if -o is given. Returns 0 or the exit code. After a failure the answer is still
/// printed, because the search took long.
int save_plan(const std::string& text, const Options& options, const Io& io) {
  if (text.empty() || options.output().empty()) return kOk;
  return options.save(text, options.output(), io);
}

/// Prints the answer, unless the plan or its page goes to standard output. The reason why there is
/// no plan is always printed.
int print_answer(const std::string& text, bool found, const Options& options, const Io& io) {
  if (options.output() != "-" && !options.stdout_taken()) return options.print(text, io);
  if (!found) io.err << text;
  return kOk;
}

/// Returns the exit code of an answer that was printed.
int exit_code(bool found, planner::StopReason stopped, int unsaved) {
  if (unsaved != kOk) return unsaved;
  if (stopped == planner::StopReason::asked) return kInterrupted;
  return found ? kOk : kRefused;
}

/// Writes an answer in the form that the flags ask for.
std::string render_answer(const planner::PlanAnswer& answer, const Output& to,
                          const std::string& saved) {
  const report::Paint paint = to.options.paint_printed(to.io);
  const std::size_t width = to.io.prose();
  if (!answer.answer.best) return render_no_plan_text(answer, paint, width);
  if (to.markdown) return report::render_plan_markdown(answer);
  if (to.top) return report::render_top_plans(answer, paint, width);
  if (to.verbose) return report::render_plan_text(answer, paint, width, saved);
  if (to.options.quiet()) return report::render_plan_line(answer);
  return report::render_plan_screen(answer, paint, width, saved);
}

int write(const planner::PlanAnswer& answer, const Output& to) {
  const Options& options = to.options;
  const Io& io = to.io;
  const bool found = answer.answer.best.has_value();
  const std::string file = report::render_plan_file(answer, to.command());
  const int unsaved = save_plan(file, options, io);
  const std::string saved =
      found && unsaved == kOk && options.output() != "-" ? options.output() : "";
  const std::string text =
      options.json() ? report::make_plan_json(answer) : render_answer(answer, to, saved);
  int code = print_answer(text, found, options, io);
  const bool misses = misses_target(answer.run, answer.training);
  if (code == kOk) code = exit_code(found && !misses, answer.stopped, unsaved);
  if (const int failed = draw(answer, saved, to)) code = failed;
  return code;
}

int write(const planner::PlansByCount& answer, const Output& to) {
  const Options& options = to.options;
  const Io& io = to.io;
  const std::string file = report::render_plan_file(answer, to.command());
  const int unsaved = save_plan(file, options, io);
  const std::string text = options.json() ? report::make_counts_json(answer)
                           : to.markdown
                               ? report::render_counts_markdown(answer)
                               : render_counts_text(answer, options.paint_printed(io), io.prose());
  if (const int failed = print_answer(text, answer.chosen.has_value(), options, io)) return failed;
  return exit_code(answer.chosen.has_value(), answer.stopped, unsaved);
}

}  // namespace

int plan(Args args, const Io& io) {
  Options options(verb("plan"));
  SearchFlags flags;
  std::string html;
  bool verbose = false;
  options.prints_besides();
  flags.add_to(options);
  options.add_switch("--verbose", verbose,
                     "print every item, alternative, trade-off and what was searched");
  options.describe("--quiet", "print the layout, its step time and memory in one line");
  options.add("--html", html, "also write the plan as an interactive HTML report: plan.html");
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  planner::Outcome<planner::PlanRequest> request = flags.read();
  if (!request) return print_refusal("plan", request.error(), io);
  if (!html.empty()) {
    if (request->several_counts())
      return print_usage_fault("plan", "--html draws one plan, but --gpus asks for several",
                               "use --gpus with one number", io);
    if (const int missing = refuse_missing_page("plan", io)) return missing;
  }
  if (const int failed = options.refuse_unwritable({options.output(), html}, io)) return failed;
  flags.read_files(*request, io);
  // The screen and the line have no room for trade-offs, which take as long as the search.
  request->trade_offs = verbose || flags.markdown() || options.json() || !html.empty();

  const auto begin = std::chrono::steady_clock::now();
  const Interrupt interrupt;
  ProgressLine line(io, options.quiet());
  const planner::SearchControl control = make_search_control(line, interrupt);
  const Output to{args, flags.markdown(), verbose, request->top > 0, html, options, io};
  int code = kOk;
  if (request->several_counts()) {
    const planner::Outcome<planner::PlansByCount> answer = find_plans_by_count(*request, control);
    if (!answer) return print_refusal("plan", answer.error(), io);
    line.clear();
    code = write(*answer, to);
  } else {
    const planner::Outcome<planner::PlanAnswer> answer = find_plan(*request, control);
    if (!answer) return print_refusal("plan", answer.error(), io);
    line.clear();
    code = write(*answer, to);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (io.err_terminal && !options.quiet())
    io.err << fmt::format("searched in {}\n", show(Seconds{took.count()}));
  return code;
}

}  // namespace rankwright::cli
