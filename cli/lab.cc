// `rankwright lab`: exercises whose answers are checked against what the library computes.
#include "rankwright/lab/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/lab/lab_files.h"
#include "cli/lab/lab_session.h"
#include "cli/lab/quiz.h"
#include "cli/lab/worksheet.h"
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
                                   : verdicts_text(lab, verdicts, lab_style(options, io)),
                    io);
  if (failed != kOk) return failed;
  return all_right(verdicts) ? kOk : kRefused;
}

/// Prints a plan of the labs, for users without the repository.
int print_plan(const std::string& file, const Options& options, const Io& io) {
  const std::string_view text = lab::find_lab_file("examples/" + file);
  if (text.empty())
    return refuse("no plan is named '" + make_excerpt(file) + "'",
                  "for example --plan labs/tp-8.yaml", io);
  return options.write(std::string(text), io);
}

/// Returns the questions that a key names: one, or all with "all"; empty if the key is unknown.
std::vector<const lab::Question*> find_questions(const lab::Lab& lab, std::string_view key) {
  std::vector<const lab::Question*> found;
  for (const lab::Question& question : lab.questions)
    if (key == "all" || key == question.key) found.push_back(&question);
  return found;
}

int refuse_key(const lab::Lab& lab, const std::string& key, const Io& io) {
  std::string keys;
  for (const lab::Question& question : lab.questions)
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", question.key);
  return refuse(fmt::format("lab {} has no question '{}'", lab.number, make_excerpt(key)),
                fmt::format("one of {}", keys), io);
}

int show_solutions(const lab::Lab& lab, const std::string& key, const Options& options,
                   const Io& io) {
  const std::vector<const lab::Question*> questions = find_questions(lab, key);
  if (questions.empty()) return refuse_key(lab, key, io);
  return options.write(options.json() ? show_json(lab, questions)
                                      : show_text(lab, questions, lab_style(options, io)),
                       io);
}

int show_hints(const lab::Lab& lab, const std::string& key, const Options& options, const Io& io) {
  const std::vector<const lab::Question*> questions = find_questions(lab, key);
  if (questions.size() != 1) return refuse_key(lab, key, io);
  return options.write(options.json() ? hints_json(lab, *questions[0])
                                      : hints_text(lab, *questions[0], lab_style(options, io)),
                       io);
}

/// The flags of the verb.
struct LabFlags {
  std::string number, check, answers, plan, files, grade, show, hint;
  bool blank = false, interactive = false;

  /// One thing that the verb can do instead of printing the task.
  struct Mode {
    std::string_view flag;
    bool given;
    bool needs_lab;
  };
  std::vector<Mode> modes() const {
    return {{"--interactive", interactive, true}, {"--template", blank, true},
            {"--check", !check.empty(), true},    {"--hint", !hint.empty(), true},
            {"--show", !show.empty(), true},      {"--files", !files.empty(), true},
            {"--plan", !plan.empty(), false},     {"--grade", !grade.empty(), false}};
  }
};

/// Returns 0, or the exit code if the flags cannot be combined.
int refuse_combination(const LabFlags& flags, const Io& io) {
  std::vector<std::string_view> given;
  bool needs_lab = false;
  for (const LabFlags::Mode& mode : flags.modes())
    if (mode.given) {
      given.push_back(mode.flag);
      needs_lab = needs_lab || mode.needs_lab;
    }
  if (given.size() > 1)
    return refuse(fmt::format("{} cannot be combined", fmt::join(given, " and ")),
                  "use one of them", io);
  if (!flags.answers.empty() && !flags.interactive)
    return refuse("--answers has no effect without --interactive",
                  "rankwright lab 3 --interactive --answers FILE", io);
  if (needs_lab && flags.number.empty())
    return refuse("missing number of the lab", fmt::format("rankwright lab 3 {}", given[0]), io);
  return kOk;
}

int run_lab(const lab::Lab& lab, const LabFlags& flags, const Options& options, const Io& io) {
  if (flags.interactive) return run_lab_session(lab, flags.answers, options, io);
  if (!flags.check.empty()) return check_answers(lab, flags.check, options, io);
  if (flags.blank) return options.write(template_text(lab), io);
  if (!flags.hint.empty()) return show_hints(lab, flags.hint, options, io);
  if (!flags.show.empty()) return show_solutions(lab, flags.show, options, io);
  if (!flags.files.empty()) return write_lab_plans(lab, flags.files, options, io);
  return options.write(options.json() ? task_json(lab) : task_text(lab, lab_style(options, io)),
                       io);
}

}  // namespace

int lab(Args args, const Io& io) {
  if (!args.empty() && args.front() == "worksheet") return lab_worksheet(args.subspan(1), io);
  if (std::find(args.begin(), args.end(), "--quiz") != args.end()) return lab_quiz(args, io);
  Options options(verb("lab"));
  LabFlags flags;
  bool quiz = false;
  options.add("number", flags.number, "number of the lab, or worksheet; without it, list the labs")
      .type_name("INT");
  options.add_switch("--interactive", flags.interactive, "ask the questions one by one");
  options.add("--answers", flags.answers, "with --interactive: a file with the lines to type")
      .type_name("FILE");
  options.add_switch("--template", flags.blank, "write an answer file to fill in");
  options.add("--check", flags.check, "check the answers in this file, or -");
  options.add("--hint", flags.hint, "print the hints of a question").type_name("KEY");
  options.add("--show", flags.show, "print the answer to a question, or to all").type_name("KEY");
  options.add("--files", flags.files, "write the plans of the lab to this folder").type_name("DIR");
  options.add("--plan", flags.plan, "print one of the labs' plans: labs/tp-8.yaml");
  options.add("--grade", flags.grade, "summarize the answer files of a folder").type_name("DIR");
  options.add_switch("--quiz", quiz, "ask flash cards and cases (rankwright lab --quiz --help)");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  // Not with CLI11's excludes(): its help lists options in the order of their addresses.
  if (const int code = refuse_combination(flags, io)) return code;
  if (!flags.number.empty() || !flags.plan.empty()) options.keep_lines();
  if (!flags.plan.empty()) return print_plan(flags.plan, options, io);
  if (!flags.grade.empty()) return grade_folder(flags.grade, options, io);
  if (flags.number.empty())
    return options.write(
        options.json() ? lab::list_json() : lab::list_text(options.paint(io), io.prose()), io);
  const Result<i64> wanted = parse_count(flags.number, 1);
  const lab::Lab* const one = wanted ? lab::find_lab(*wanted) : nullptr;
  if (one == nullptr)
    return refuse(fmt::format("no lab {}", make_excerpt(flags.number)),
                  "rankwright lab lists the labs", io);
  return run_lab(*one, flags, options, io);
}

}  // namespace rankwright::cli
