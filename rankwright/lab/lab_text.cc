#include "rankwright/lab/lab_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace {

constexpr std::size_t kTemplateWidth = 96;

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
std::string verdict_details(const Verdict& v, std::size_t width) {
  std::string out;
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out += report::wrap_text(text, width - 7, "       ");
  };
  if (v.outcome != LabOutcome::right && v.conditions.empty()) line(v.reason);
  if (v.outcome == LabOutcome::wrong && !v.expected.empty())
    line(v.expected + (v.arithmetic.empty() ? "" : ": " + v.arithmetic));
  if (v.outcome == LabOutcome::right) line(v.arithmetic);
  for (const Verdict::Judged& one : v.conditions)
    line(fmt::format("{} {}: {}", one.met.met ? "+" : "-", one.says, one.met.numbers));
  if (v.outcome != LabOutcome::right) out += "       see: " + std::string(v.question->see) + "\n";
  return out;
}

}  // namespace

std::string list_text(const report::Paint& paint) {
  report::Table table{.columns = {{"lab", report::Table::Align::right},
                                  {"about"},
                                  {"questions", report::Table::Align::right}}};
  for (const Lab& lab : labs())
    table.rows.push_back({std::to_string(lab.number), read_lab_page(lab).title,
                          std::to_string(lab.questions.size())});
  return table.text(paint) +
         "\nrankwright lab N shows one, --template -o answer.yaml begins its answers, --check "
         "answer.yaml judges them.\n";
}

std::string task_text(const Lab& lab, const report::Paint& paint, std::size_t width) {
  const LabPage page = read_lab_page(lab);
  std::string out = paint.bold(fmt::format("Lab {}. {}", lab.number, page.title)) + "\n";
  out += escape_markdown(page.task, paint, width);
  out += "\n" + paint.bold("Questions") + "\n" + report::wrap_text(page.about, width, "");
  for (const Question& question : lab.questions) {
    const std::string words = fmt::format("{} (examples/{}; {})", page.words(question.key),
                                          question.file, describe_form(question));
    out += "  " + paint.bold(question.key) + "\n" + report::wrap_text(words, width - 4, "    ");
    if (const std::string more = conditions_text(question); !more.empty())
      out += report::wrap_text(more, width - 4, "    ");
  }
  out += fmt::format(
      "\nTo answer\n"
      "  rankwright lab {0} --template -o answer.yaml\n"
      "  rankwright lab {0} --check answer.yaml\n",
      lab.number);
  return out;
}

std::string template_text(const Lab& lab) {
  const LabPage page = read_lab_page(lab);
  std::string out = fmt::format("# Lab {}. {}: rankwright lab {} --check THIS_FILE\nlab: {}\n",
                                lab.number, page.title, lab.number, lab.number);
  const auto comment = [&](const std::string& text) {
    out += report::wrap_text(text, kTemplateWidth, "# ");
  };
  if (!page.about.empty()) {
    out += "\n";
    comment(page.about);
  }
  for (const Question& question : lab.questions) {
    out += "\n";
    comment(fmt::format("{} {}", page.words(question.key), conditions_text(question)));
    std::string form = fmt::format("examples/{}; {}", question.file, describe_form(question));
    if (question.kind != AnswerKind::choice)
      form += fmt::format(", such as {}", row(question.kind).example);
    comment(form);
    out += fmt::format("{}:\n", question.key);
  }
  return out;
}

std::string verdicts_text(const Lab& lab, const std::vector<Verdict>& verdicts,
                          const report::Paint& paint, std::size_t width) {
  std::string out;
  std::size_t longest = 0;
  for (const Verdict& v : verdicts) longest = std::max(longest, v.question->key.size());
  for (const Verdict& v : verdicts) {
    const std::string word(name(v.outcome));
    out += v.outcome == LabOutcome::right  ? paint.green(word)
           : v.outcome == LabOutcome::open ? paint.dim(word)
                                           : paint.severity(Severity::error, word);
    out += fmt::format("{:{}}{:<{}}  {}", "", 7 - word.size(), v.question->key, longest,
                       v.given.empty() ? "not answered" : v.given);
    out += "\n" + verdict_details(v, width);
  }
  const auto right = std::count_if(verdicts.begin(), verdicts.end(),
                                   [](const Verdict& v) { return v.outcome == LabOutcome::right; });
  return out + fmt::format("\nlab {}: {} of {} right\n", lab.number, right, verdicts.size());
}

}  // namespace rankwright::lab
