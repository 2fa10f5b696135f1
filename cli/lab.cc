// `rankwright lab`: exercises whose answers are checked against what the library computes.
#include "rankwright/lab/lab.h"

#include <fmt/format.h>

#include <ostream>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/lab/lab_text.h"
#include "rankwright/report/explain/findings.h"

namespace rankwright::cli {
namespace {

int refuse(const std::string& what, const std::string& help, const Io& io) {
  io.err << fmt::format("rankwright lab: {}\n  help: {}\n", what, help);
  return kUsage;
}

/// Checks answers. Unreadable answers are reported like other file errors; warnings come before the
/// verdicts.
int check_answers(const lab::Lab& lab, const std::string& file, const Options& options,
                  const Io& io) {
  const Result<std::string> text = read_argument(file, io);
  lab::GivenAnswers answers{.name = file, .text = {}};
  if (text)
    answers = read_answers(lab, *text, file, importer::read_file);
  else
    answers.findings.push_back(text.error());
  sort(answers.findings);
  const auto found = [&](const report::Paint& paint) {
    return render_findings_text(answers.findings, answers.name, answers.text, paint);
  };
  if (has_errors(answers.findings)) {
    const int failed =
        options.write(options.json() ? report::make_findings_json(answers.findings, answers.name)
                                     : found(options.paint(io)),
                      io);
    return failed != kOk ? failed : kUnreadable;
  }
  if (!answers.findings.empty() && !options.quiet()) io.err << found({});
  const std::vector<lab::Verdict> verdicts = judge(answers);
  const int failed =
      options.write(options.json() ? verdicts_json(lab, verdicts)
                                   : verdicts_text(lab, verdicts, options.paint(io), io.prose()),
                    io);
  if (failed != kOk) return failed;
  return all_right(verdicts) ? kOk : kRefused;
}

/// Prints a plan of the labs, for users without the repository.
int print_plan(const std::string& file, const Options& options, const Io& io) {
  const std::string_view text = lab::find_lab_file("examples/" + file);
  if (text.empty())
    return refuse("there is no plan '" + make_excerpt(file) + "'", "labs/tp-8.yaml is one", io);
  return options.write(std::string(text), io);
}

}  // namespace

int lab(Args args, const Io& io) {
  Options options(verb("lab"));
  std::string number, answers, plan;
  bool blank = false;
  options.add("number", number, "of the lab; without it they are listed").type_name("INT");
  options.add("--check", answers, "judge the answers in this file, or -");
  options.add_switch("--template", blank, "write an answer file to fill in");
  options.add("--plan", plan, "write a plan of the labs: labs/tp-8.yaml");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  // Not with CLI11's excludes(): its help lists options in the order of their addresses.
  if (int(blank) + int(!answers.empty()) + int(!plan.empty()) > 1)
    return refuse("--check, --template and --plan do not go together", "give one of them", io);
  if (!plan.empty()) return print_plan(plan, options, io);
  if (number.empty()) {
    if (blank || !answers.empty())
      return refuse("the number of the lab is missing", "rankwright lab 3 --template", io);
    return options.write(options.json() ? lab::list_json() : lab::list_text(options.paint(io)), io);
  }
  const Result<i64> wanted = parse_count(number, 1);
  const lab::Lab* const one = wanted ? lab::find_lab(*wanted) : nullptr;
  if (one == nullptr)
    return refuse(fmt::format("there is no lab {}", make_excerpt(number)),
                  "rankwright lab lists them", io);
  if (!answers.empty()) return check_answers(*one, answers, options, io);
  if (blank) return options.write(template_text(*one), io);
  return options.write(
      options.json() ? task_json(*one) : task_text(*one, options.paint(io), io.prose()), io);
}

}  // namespace rankwright::cli
