#include "rankwright/lab/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/rule.h"

namespace rankwright::lab {
namespace {

constexpr double kFarOff = 10;  // beyond this factor the unit is the likely mistake

/// Returns what is wrong with a number, without the right value: a known mistake, else the
/// direction.
std::string explain_error(const Question& question, double given, const WorkedAnswer& worked) {
  if (question.kind == AnswerKind::choice) return "not this one";
  for (const CommonMistake& slip : worked.slips)
    if (near(question, given, slip.value)) return slip.why;
  const bool large = given > worked.value;
  const double smaller = large ? worked.value : given, larger = large ? given : worked.value;
  std::string text = large ? "too large" : "too small";
  if (smaller > 0 && larger > kFarOff * smaller)
    text += fmt::format(", by more than a factor of {}", kFarOff) +
            (question.kind == AnswerKind::whole ? "" : ": check the unit");
  return text;
}

void judge_value(const GivenAnswer& answer, Verdict& verdict) {
  const Question& question = *answer.question;
  const WorkedAnswer worked = question.work(load_example_config(question.file));
  const bool choice = question.kind == AnswerKind::choice;
  const bool right =
      choice ? answer.value == worked.value : near(question, answer.value, worked.value);
  verdict.outcome = right ? LabOutcome::right : LabOutcome::wrong;
  if (right) verdict.arithmetic = worked.arithmetic;
  if (!right) verdict.reason = explain_error(question, answer.value, worked);
}

/// Judges a plan. A plan with constraint violations is wrong without checking its conditions.
void judge_plan(const GivenAnswer& answer, Verdict& verdict) {
  const Question& question = *answer.question;
  const plan::TrainingConfig given = load_example_config(question.file);
  if (!find_violations(*answer.plan).empty()) {
    verdict.outcome = LabOutcome::wrong;
    Diagnostics findings = lint(*answer.plan, rules::Target::any);
    sort(findings);
    for (const Diagnostic& d : findings)
      if (d.severity == Severity::error)
        verdict.reason += fmt::format("{}{}: {} [{}]", verdict.reason.empty() ? "" : "; ",
                                      d.message, d.detail, d.code);
    return;
  }
  for (const Condition& condition : question.conditions)
    verdict.conditions.push_back({condition.says, condition.met(*answer.plan, given)});
  const bool right = std::all_of(verdict.conditions.begin(), verdict.conditions.end(),
                                 [](const Verdict::Judged& one) { return one.met.met; });
  verdict.outcome = right ? LabOutcome::right : LabOutcome::wrong;
  if (right) return;
  for (const Verdict::Judged& one : verdict.conditions)
    if (!one.met.met)
      verdict.reason += fmt::format("{}it must {}: {}", verdict.reason.empty() ? "" : "; ",
                                    one.says, one.met.numbers);
}

/// Returns "answer.yaml:2:9: not a whole number: 'many' [RW0903]; such as 4".
std::string fault_text(const Diagnostic& d) {
  std::string text = fmt::format("{}:{}:{}: {}: {} [{}]", d.where.file, d.where.line,
                                 d.where.column, d.message, d.detail, d.code);
  return d.hint.empty() ? text : text + "; " + d.hint;
}

void report_faults(const GivenAnswer& answer, Verdict& verdict) {
  verdict.outcome = LabOutcome::unread;
  for (const Diagnostic& fault : answer.faults)
    verdict.reason += (verdict.reason.empty() ? "" : "; ") + fault_text(fault);
}

}  // namespace

std::string_view name(LabOutcome outcome) {
  constexpr std::string_view kNames[] = {"right", "wrong", "open", "unread"};
  return kNames[std::size_t(outcome)];
}

Verdict judge(const GivenAnswer& answer) {
  Verdict verdict{.question = answer.question, .given = answer.text};
  if (!answer.faults.empty())
    report_faults(answer, verdict);
  else if (!answer.given)
    return verdict;
  else if (answer.question->kind == AnswerKind::plan)
    judge_plan(answer, verdict);
  else
    judge_value(answer, verdict);
  return verdict;
}

Solution solve(const Question& question) {
  if (question.kind == AnswerKind::plan) return {};
  const WorkedAnswer worked = question.work(load_example_config(question.file));
  const bool choice = question.kind == AnswerKind::choice;
  return {.value = choice ? std::string(question.choices[std::size_t(worked.value)])
                          : row(question.kind).show(worked.value),
          .arithmetic = worked.arithmetic,
          .hidden = hide_result(question, worked)};
}

std::vector<Verdict> judge(const GivenAnswers& answers) {
  std::vector<Verdict> verdicts;
  for (const GivenAnswer& answer : answers.answers) verdicts.push_back(judge(answer));
  return verdicts;
}

bool all_right(const std::vector<Verdict>& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [](const Verdict& one) { return one.outcome == LabOutcome::right; });
}

}  // namespace rankwright::lab
