#include "rankwright/lab/lab_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace {

constexpr std::size_t kTemplateWidth = 78;
constexpr std::size_t kWordWidth = 8;  // of "unread", and two blanks

/// Returns the lines of a text after an indent.
std::string indent(std::string_view text, const TextStyle& style, std::size_t blanks) {
  if (text.empty()) return "";
  return report::wrap_text(text, style.width - blanks, std::string(blanks, ' '));
}

/// Returns how to answer: "a size with its unit; three digits are enough", "one of nvlink,
/// infiniband".
std::string describe_form(const Question& question) {
  if (question.kind == AnswerKind::choice)
    return fmt::format("one of {}", fmt::join(question.choices, ", "));
  std::string text(row(question.kind).words);
  // A tolerance in % next to a percentage would read as percentage points.
  if (question.tolerance > 0) text += "; three digits are enough";
  return text;
}

std::string conditions_text(const Question& question) {
  std::string text;
  for (const Condition& condition : question.conditions)
    text += fmt::format("{}{}", text.empty() ? "It must " : "; ", condition.says);
  return text.empty() ? text : text + ".";
}

/// Returns the lines of a verdict below its first line.
std::string verdict_details(const Verdict& v, const TextStyle& style) {
  std::string out;
  if (v.outcome != LabOutcome::right && v.conditions.empty())
    out += indent(v.reason, style, kWordWidth);
  if (v.outcome == LabOutcome::right) out += indent(v.arithmetic, style, kWordWidth);
  for (const Verdict::Judged& one : v.conditions)
    out += indent(fmt::format("{} {}: {}", one.met.met ? "+" : "-", one.says, one.met.numbers),
                  style, kWordWidth);
  return out;
}

const Verdict* find_first(const std::vector<Verdict>& verdicts, LabOutcome outcome) {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](const Verdict& v) { return v.outcome == outcome; });
  return found == verdicts.end() ? nullptr : &*found;
}

}  // namespace

std::string list_text(const report::Paint& paint, std::size_t width) {
  report::Table table{.columns = {{"lab", report::Table::Align::right},
                                  {"about"},
                                  {"questions", report::Table::Align::right}}};
  for (const Lab& lab : labs())
    table.rows.push_back({std::to_string(lab.number), read_lab_page(lab).title,
                          std::to_string(lab.questions.size())});
  const auto command = [&](std::string_view what, std::string_view typed) {
    return report::fit_lines(fmt::format("{:<20}{}\n", what, typed), width);
  };
  return table.text(paint, "", width) + "\n" + command("Read a lab:", "rankwright lab 3") +
         command("Answer, one by one:", "rankwright lab 3 --interactive") +
         command("Answer in a file:", "rankwright lab 3 --template -o answer.yaml") +
         command("Check the file:", "rankwright lab 3 --check answer.yaml");
}

std::string question_text(const Question& question, const LabPage& page, const TextStyle& style) {
  std::string words(page.words(question.key));
  std::erase(words, '`');
  return "  " + style.paint.bold(question.key) + "\n" + indent(words, style, 4) +
         indent(fmt::format("(examples/{}; {})", question.file, describe_form(question)), style,
                4) +
         indent(conditions_text(question), style, 4);
}

std::string task_text(const Lab& lab, const TextStyle& style) {
  const LabPage page = read_lab_page(lab);
  const report::Paint& paint = style.paint;
  std::string out = report::make_bold(
      report::wrap_text(fmt::format("Lab {}. {}", lab.number, page.title), style.width, ""), paint);
  out += "\n" + render_markdown(page.introduction, style);
  for (const LabStep& step : page.steps) {
    out += "\n" + paint.bold(step.title) + "\n";
    if (!step.task.empty()) out += "\n" + render_markdown(step.task, style);
    for (const Question& question : lab.questions)
      if (page.find_step(question.key) == &step) out += "\n" + question_text(question, page, style);
  }
  out += "\n" + paint.bold("To answer") + "\n";
  const auto command = [&](std::string_view flags, std::string_view what) {
    out += report::fit_lines(fmt::format("  rankwright lab {} {:<26}{}\n", lab.number, flags, what),
                             style.width);
  };
  command("--interactive", "question by question, with hints");
  command("--template -o answer.yaml", "a file to fill in");
  command("--check answer.yaml", "check the file");
  command("--files .", "write the plans of this lab");
  command("--show all", "all answers");
  return out;
}

std::string template_text(const Lab& lab) {
  const LabPage page = read_lab_page(lab);
  std::string out = fmt::format("# Lab {}. {}\n# rankwright lab {} --check THIS_FILE\nlab: {}\n",
                                lab.number, page.title, lab.number, lab.number);
  const auto comment = [&](const std::string& text) {
    out += report::wrap_text(text, kTemplateWidth, "# ");
  };
  for (const Question& question : lab.questions) {
    out += "\n";
    comment(fmt::format("{} {}", page.words(question.key), conditions_text(question)));
    std::string form = fmt::format("examples/{}; {}", question.file, describe_form(question));
    if (question.kind != AnswerKind::choice)
      form += fmt::format(", for example {}", row(question.kind).example);
    comment(form);
    out += fmt::format("{}:\n", question.key);
  }
  return out;
}

std::string verdict_text(const Verdict& v, std::size_t key_width, const TextStyle& style) {
  const report::Paint& paint = style.paint;
  const std::string word(name(v.outcome));
  std::string out = v.outcome == LabOutcome::right  ? paint.green(word)
                    : v.outcome == LabOutcome::open ? paint.dim(word)
                                                    : paint.severity(Severity::error, word);
  out += report::fit_lines(
      fmt::format("{:{}}{:<{}}  {}\n", "", kWordWidth - word.size(), v.question->key, key_width,
                  v.given.empty() ? "not answered" : v.given),
      style.width - word.size());
  return out + verdict_details(v, style);
}

std::string verdicts_text(const Lab& lab, const std::vector<Verdict>& verdicts,
                          const TextStyle& style) {
  std::string out;
  std::size_t longest = 0;
  for (const Verdict& v : verdicts) longest = std::max(longest, v.question->key.size());
  for (const Verdict& v : verdicts) out += verdict_text(v, longest, style);
  const auto right = std::count_if(verdicts.begin(), verdicts.end(),
                                   [](const Verdict& v) { return v.outcome == LabOutcome::right; });
  out += fmt::format("\nlab {}: {} of {} right\n", lab.number, right, verdicts.size());
  const Verdict* stuck = find_first(verdicts, LabOutcome::wrong);
  if (stuck == nullptr) stuck = find_first(verdicts, LabOutcome::open);
  if (stuck == nullptr) return out;
  for (const std::string_view flag : {"hint", "show"})
    out += fmt::format("{}: rankwright lab {} --{} {}\n", flag == "hint" ? "hints" : "answer",
                       lab.number, flag, stuck->question->key);
  return out;
}

std::string hints_text(const Lab& lab, const Question& question, const TextStyle& style) {
  return style.paint.bold(question.key) + "\n" +
         indent(fmt::format("1. {}", question.hint_1), style, 2) +
         indent(fmt::format("2. {}", question.hint_2), style, 2) +
         report::fit_lines(
             fmt::format("answer: rankwright lab {} --show {}\n", lab.number, question.key),
             style.width);
}

std::string solution_text(const Question& question, const TextStyle& style) {
  const Solution solution = solve(question);
  std::string out;
  if (solution.value.empty()) {
    out += style.paint.bold(question.key) + "\n" +
           indent("Many plans are right. " + conditions_text(question), style, 2) +
           indent(question.hint_1, style, 2) + indent(question.hint_2, style, 2);
  } else {
    out += style.paint.bold(fmt::format("{}: {}", question.key, solution.value)) + "\n" +
           indent(solution.arithmetic, style, 2);
  }
  return out + report::fit_lines(fmt::format("  see: {}\n", question.see), style.width);
}

std::string show_text(const Lab& lab, const std::vector<const Question*>& questions,
                      const TextStyle& style) {
  const LabPage page = read_lab_page(lab);
  std::string out;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const LabStep* const step = page.find_step(questions[i]->key);
    const bool more = i + 1 < questions.size() && page.find_step(questions[i + 1]->key) == step;
    out += (out.empty() ? "" : "\n") + solution_text(*questions[i], style);
    if (step != nullptr && !more) out += "\n" + render_markdown(step->reveal, style);
  }
  return out;
}

}  // namespace rankwright::lab
