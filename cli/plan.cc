// `rankwright plan`: the fastest layout of a model on a cluster, and why not another.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>

#include "cli/call.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/plan_flags.h"
#include "cli/plan_hosts.h"
#include "cli/plan_problem.h"
#include "cli/progress.h"
#include "cli/report_output.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/report/counts_text.h"
#include "rankwright/report/plan_json.h"
#include "rankwright/report/plan_text.h"

namespace rankwright::cli {
namespace {

constexpr i64 kMostHosts = 512;  // that a cluster on which nothing fits is grown to

/// A run of the verb: what was asked for, and what a search tells meanwhile.
struct Run {
  const Wishes& wishes;
  ProgressLine& line;
  const Interrupt& interrupt;
  std::shared_ptr<Balance> balance = std::make_shared<Balance>();

  SearchOptions options() const {
    SearchOptions all{.bounds = !wishes.exhaustive, .threads = wishes.threads, .balance = balance};
    all.go_on = [this](const SearchProgress& progress) {
      line.show(progress);
      return !interrupt.asked();
    };
    return all;
  }
};

/// Where nothing fits: on how many more GPUs of the same system something would.
std::optional<CountRow> beyond(const Problem& problem, const Run& run) {
  const i64 host = std::max<i64>(1, problem.setup.cluster.host_devices);
  const std::optional<Cluster> larger = grown(problem.setup.cluster, kMostHosts * host);
  if (!larger || larger->devices() <= problem.setup.world) return std::nullopt;
  Problem other = problem;
  other.setup.cluster = *larger;
  run.line.doing("nothing fits; looking for more GPUs");
  return fewest(other, calibration(other.setup), run.options());
}

/// Everything that is said of the answer.
void complete(PlanView& view, const Run& run) {
  Answer& found = view.answer;
  if (!found.best) {
    if (!found.complete || found.tally.memory == 0) return;
    if (!view.out) view.fewest = beyond(view.problem, run);
    return;
  }
  if (run.interrupt.asked()) return;
  run.line.doing("why not otherwise");
  run.line.show({});
  view.neighbours = neighbours(view.problem, found, calibration(view.problem.setup), run.options());
  if (run.interrupt.asked()) return;
  run.line.doing("what headroom and fewer GPUs cost");
  run.line.show({});
  view.trade = trade(view.problem, found, calibration(view.problem.setup), run.options());
}

PlanView look(const Task& task, const Run& run) {
  PlanView view{.problem = task.problem, .own = task.own, .training = run.wishes.training};
  if (run.wishes.fit) {
    run.line.doing("the fewest GPUs");
    view.fit_asked = true;
    view.fewest = fewest(view.problem, calibration(view.problem.setup), run.options());
    if (view.fewest) view.problem.setup.world = view.fewest->gpus;
    run.line.doing("searching");
  }
  if (run.wishes.excluded) {
    run.line.doing("numbers of hosts");
    view.out = hosts_to_use(view.problem, *run.wishes.excluded, run.options());
    const i64 hosts = view.out->used > 0 ? view.out->used : view.out->left;
    view.problem.setup.world = hosts * view.problem.setup.cluster.host_devices;
    run.line.doing("searching");
  }
  view.answer = answer(view.problem, calibration(view.problem.setup), run.options());
  complete(view, run);
  if (view.out) place(view, placement_around(*view.out, view.problem.setup.cluster));
  view.stopped = run.interrupt.asked();
  return view;
}

/// The page of the best plan; nothing where none fits.
int draw(const PlanView& view, Args args, const std::string& path, const Options& options,
         const Io& io) {
  if (!view.answer.best || path.empty()) return kOk;
  const Setup& best = view.best().setup;
  Report made = new_report("plan", args);
  made.plans.push_back(plan_report(view.file.empty() ? "plan.yaml" : view.file, best,
                                   lint(best, view.problem.limits.target)));
  add_search(made.plans.back(), view);
  return save_page(made, path, options, io);
}

/// Of a search that was stopped: what its plan is the best of. Empty where it was complete.
std::string stopped_words(const Answer& answer) {
  if (answer.complete) return {};
  const double seen = double(answer.tally.candidates), all = seen + double(answer.undecided);
  return fmt::format("the best of {} of the space", percent(all > 0 ? seen / all : 0));
}

/// For a caller in the same process.
Forms forms(const PlanView& view, const std::string& command, const Io& io) {
  if (!view.answer.best)
    return {.json = plan_json(view), .text = no_plan_text(view, {}, io.prose())};
  return {.json = plan_json(view),
          .text = plan_text(view, {}, io.prose()),
          .markdown = plan_markdown(view),
          .plan = plan_file_text(view.best(), command, stopped_words(view.answer))};
}

/// 0, or the exit code. A failure is told, and the answer is still printed: it took long.
int save_plan(const std::string& text, const Options& options, const Io& io) {
  if (text.empty() || options.output().empty()) return kOk;
  return options.save(text, options.output(), io);
}

/// Not where the plan or its page has standard output for itself; but why there is no plan is said.
int print_answer(const std::string& text, bool found, const Options& options, const Io& io) {
  if (options.output() != "-" && !options.stdout_taken()) return options.print(text, io);
  if (!found) io.err << text;
  return kOk;
}

int write(PlanView& view, const std::string& command, const Wishes& wishes, const Options& options,
          const Io& io) {
  const bool found = view.answer.best.has_value();
  const int unsaved = save_plan(
      found ? plan_file_text(view.best(), command, stopped_words(view.answer)) : "", options, io);
  if (found && unsaved == kOk && options.output() != "-") view.file = options.output();
  if (io.call != nullptr) io.call->forms = forms(view, command, io);
  const Paint paint = options.paint_printed(io);
  const std::string text = options.json()    ? plan_json(view)
                           : !found          ? no_plan_text(view, paint, io.prose())
                           : wishes.markdown ? plan_markdown(view)
                                             : plan_text(view, paint, io.prose());
  if (const int failed = print_answer(text, found, options, io)) return failed;
  if (unsaved != kOk) return unsaved;
  if (view.stopped) return kInterrupted;
  return found ? kOk : kRefused;
}

/// The best plan on each of several numbers of GPUs, rising. Where a deadline falls between two of
/// them, also on numbers between, from below until one makes it.
CountsView look_at_counts(const Task& task, const Run& run) {
  const Range& gpus = *run.wishes.gpus;
  const i64 host = std::max<i64>(1, task.problem.setup.cluster.host_devices);
  CountsView view{.problem = task.problem, .training = run.wishes.training};
  const auto look_at = [&](const i64 count) {
    run.line.doing(fmt::format("{} GPUs", rankwright::count(count)));
    std::vector<CountRow> row =
        over_counts(view.problem, {count}, calibration(view.problem.setup), run.options());
    if (run.interrupt.asked()) return false;
    view.rows.push_back(std::move(row.front()));
    return true;
  };
  for (const i64 count : count_ladder(host, gpus.least, gpus.most))
    if (!look_at(count)) break;
  const std::optional<std::size_t> in_time = view.chosen();
  if (view.training.deadline && in_time.value_or(0) > 0 && !run.interrupt.asked()) {
    std::vector<CountRow> more(std::move_iterator(view.rows.begin() + i64(*in_time)),
                               std::move_iterator(view.rows.end()));
    view.rows.resize(*in_time);
    for (const i64 count : counts_between(host, view.rows.back().gpus, more.front().gpus))
      if (!look_at(count) || view.chosen()) break;
    view.rows.insert(view.rows.end(), std::move_iterator(more.begin()),
                     std::move_iterator(more.end()));
  }
  view.stopped = run.interrupt.asked();
  run.line.clear();
  return view;
}

/// The best plan on each of several numbers of GPUs.
int plan_counts(const Task& task, const Run& run, const std::string& command,
                const Options& options, const Io& io) {
  const CountsView view = look_at_counts(task, run);
  const std::optional<std::size_t> chosen = view.chosen();
  const std::string file =
      chosen ? plan_file_text(*view.rows[*chosen].plan, command,
                              view.stopped ? "larger counts were not looked at" : "")
             : "";
  if (io.call != nullptr)
    io.call->forms = {.json = counts_json(view),
                      .text = counts_text(view, {}, io.prose()),
                      .markdown = counts_markdown(view),
                      .plan = file};
  const int unsaved = save_plan(file, options, io);
  const std::string text = options.json() ? counts_json(view)
                           : run.wishes.markdown
                               ? counts_markdown(view)
                               : counts_text(view, options.paint_printed(io), io.prose());
  if (const int failed = print_answer(text, chosen.has_value(), options, io)) return failed;
  if (unsaved != kOk) return unsaved;
  if (view.stopped) return kInterrupted;
  return chosen ? kOk : kRefused;
}

}  // namespace

int plan(Args args, const Io& io) {
  Options options(verb("plan"));
  SearchFlags flags;
  std::string html;
  options.prints_besides();
  flags.add_to(options);
  options.add("--html", html, "draw the plan on one page: plan.html");
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  Wishes wishes;
  if (const std::optional<UsageFault> fault = flags.read(wishes)) return complain(*fault, io);
  if (!html.empty()) {
    if (wishes.many_counts())
      return complain(
          {"--html draws one plan, and --gpus asks for several", "--gpus with one number"}, io);
    if (const int missing = without_page("plan", io)) return missing;
  }
  if (const int failed = options.refuse_unwritable({options.output(), html}, io)) return failed;
  const tl::expected<Task, int> task = read_task(flags, wishes, io);
  if (!task) return task.error();

  const auto begin = std::chrono::steady_clock::now();
  const Interrupt interrupt(io);
  ProgressLine line(io, options.quiet());
  const Run run{wishes, line, interrupt};
  const std::string command = command_line("plan", args);
  int code = kOk;
  if (wishes.many_counts()) {
    code = plan_counts(*task, run, command, options, io);
  } else {
    PlanView view = look(*task, run);
    line.clear();
    code = write(view, command, wishes, options, io);
    if (const int failed = draw(view, args, html, options, io)) code = failed;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (io.err_terminal && !options.quiet())
    io.err << fmt::format("searched in {}\n", show(Seconds{took.count()}));
  return code;
}

}  // namespace rankwright::cli
