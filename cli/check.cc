// `rankwright check`: reports all problems of plans and schedules at once.
#include "rankwright/planner/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/target_flag.h"
#include "cli/verb.h"
#include "rankwright/planner/typo_costs.h"
#include "rankwright/report/explain/check_text.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/rules/finding_filter.h"

namespace rankwright::cli {
namespace {

using Answers = std::vector<planner::CheckAnswer>;

/// The flags of `check` besides those that every verb with a plan has.
struct CheckFlags {
  std::vector<std::string> files{};
  std::vector<std::string> select{}, ignore{};
  std::string format{};
  bool strict = false, fix = false;
  TargetFlag target{};

  void add_to(Options& options) {
    options.add("plan", files, "plan files, framework configs, schedules (.csv), or -").required();
    target.add_to(options, "also the rules of this framework (default: the plan's target)");
    options.add_switch("--strict", strict, "exit with 2 on warnings too");
    options.add("--select", select, "report only these codes: RW04,RW0512")
        .type_name("CODES")
        .one_value_each();
    options.add("--ignore", ignore, "leave out these codes").type_name("CODES").one_value_each();
    options.add_switch("--fix", fix, "correct misspelled keys and flags in the files");
    options.add("--format", format, "text, json, sarif, or github (annotations of a workflow)")
        .type_name("FORMAT");
  }
};

std::string write_text(const Answers& answers, const Options& options, const Io& io) {
  return answers.size() == 1
             ? render_check_text(answers.front(), options.paint(io), io.width, !options.quiet())
             : report::render_checks_text(answers, options.paint(io), io.width);
}

std::string write_json(const Answers& answers, const Options&, const Io&) {
  return answers.size() == 1
             ? report::make_findings_json(answers.front().findings, answers.front().file.name)
             : report::make_checks_json(answers);
}

std::string write_sarif(const Answers& answers, const Options&, const Io&) {
  return report::render_findings_sarif(report::join_findings(answers), RANKWRIGHT_VERSION);
}

std::string write_github(const Answers& answers, const Options&, const Io&) {
  return report::render_findings_github(report::join_findings(answers));
}

/// A form of the findings.
struct FindingFormat {
  std::string_view name;
  std::string (*write)(const Answers&, const Options&, const Io&);
};
constexpr FindingFormat kFindingFormats[] = {
    {"text", write_text}, {"json", write_json}, {"sarif", write_sarif}, {"github", write_github}};

/// Returns the requested format; null if the word is not known.
const FindingFormat* find_finding_format(const std::string& word, const Options& options) {
  if (word.empty()) return &kFindingFormats[options.json() ? 1 : 0];
  const auto found = std::find_if(std::begin(kFindingFormats), std::end(kFindingFormats),
                                  [&](const FindingFormat& row) { return row.name == word; });
  return found == std::end(kFindingFormats) ? nullptr : found;
}

/// Corrects the misspelled words of a file; `answer` is then that of the corrected file. A
/// correction is kept only if the file has no more errors than before.
int fix_file(const planner::CheckRequest& request, planner::CheckAnswer& answer,
             const Options& options, const Io& io) {
  std::optional<planner::CorrectedText> better = planner::correct_spelling(request, answer);
  if (!better) return kOk;
  const std::string& name = answer.file.name;
  if (const int failed = options.save(better->text, name, io)) return failed;
  if (!options.quiet())
    io.err << fmt::format("{}: corrected {}\n", name, fmt::join(better->words, ", "));
  answer = std::move(better->answer);
  return kOk;
}

/// Returns the exit code of the worst answer.
int judge_answers(const Answers& answers, bool strict) {
  int code = kOk;
  for (const planner::CheckAnswer& one : answers) {
    if (!one.readable) return kUnreadable;
    const bool warned =
        std::any_of(one.findings.begin(), one.findings.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::warning; });
    if (has_errors(one.findings) || (strict && warned)) code = kRefused;
  }
  return code;
}

}  // namespace

int check(Args args, const Io& io) {
  Options options(verb("check"));
  PlanFlags plan;
  CheckFlags flags;
  flags.add_to(options);
  plan.add_to(options);
  plan.add_calibration_to(options);
  plan.add_job_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const tl::expected<std::optional<rules::Target>, int> target = flags.target.read("check", io);
  if (!target) return target.error();
  const FindingFormat* const format = find_finding_format(flags.format, options);
  if (format == nullptr)
    return print_usage_fault("check", fmt::format("unknown --format '{}'", flags.format),
                             "--format text, json, sarif or github", io);
  rules::FindingFilter filter;
  for (const auto& [lists, into] :
       {std::pair(&flags.select, &filter.select), std::pair(&flags.ignore, &filter.ignore)}) {
    Result<std::vector<std::string>> prefixes = rules::parse_code_prefixes(*lists);
    if (!prefixes)
      return print_usage_fault("check", prefixes.error().detail, prefixes.error().hint, io);
    *into = std::move(*prefixes);
  }
  if (flags.fix && std::find(flags.files.begin(), flags.files.end(), "-") != flags.files.end())
    return print_usage_fault("check", "--fix writes to the file, and - is standard input",
                             "give the name of the file", io);

  Answers answers;
  for (const std::string& file : flags.files) {
    plan.plan = file;
    const planner::CheckRequest request{.plan = plan.source(io), .target = *target};
    planner::Outcome<planner::CheckAnswer> answer = planner::check_plan(request);
    if (!answer) return print_refusal("check", answer.error(), io);
    if (flags.fix)
      if (const int failed = fix_file(request, *answer, options, io)) return failed;
    filter.apply(answer->findings);
    answers.push_back(std::move(*answer));
  }
  if (format != &kFindingFormats[0]) options.keep_lines();
  if (const int failed = options.write(format->write(answers, options, io), io)) return failed;
  return judge_answers(answers, flags.strict);
}

}  // namespace rankwright::cli
