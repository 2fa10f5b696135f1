#include <nlohmann/json.hpp>

#include "rankwright/lab/lab_text.h"

namespace rankwright::lab {
namespace {

using nlohmann::ordered_json;

ordered_json begin_json() { return {{"schema", "rankwright.lab/1"}}; }
std::string write_json(const ordered_json& json) { return json.dump(2) + "\n"; }

/// Returns the position of a question's step in the page.
std::size_t step_index(const Question& question, const LabPage& page) {
  return std::size_t(page.find_step(question.key) - page.steps.data());
}

ordered_json question_json(const Question& question, const LabPage& page) {
  ordered_json one{{"key", question.key},
                   {"step", step_index(question, page)},
                   {"kind", row(question.kind).name},
                   {"question", page.words(question.key)},
                   {"plan", "examples/" + std::string(question.file)}};
  if (question.tolerance > 0) one["tolerance"] = question.tolerance;
  if (!question.choices.empty()) one["choices"] = question.choices;
  for (const Condition& condition : question.conditions)
    one["conditions"].push_back(condition.says);
  return one;
}

ordered_json verdict_json(const Verdict& v) {
  ordered_json one{{"key", v.question->key}, {"verdict", name(v.outcome)}, {"given", v.given}};
  if (!v.arithmetic.empty()) one["arithmetic"] = v.arithmetic;
  if (!v.reason.empty()) one["reason"] = v.reason;
  for (const Verdict::Judged& judged : v.conditions)
    one["conditions"].push_back(
        {{"says", judged.says}, {"met", judged.met.met}, {"numbers", judged.met.numbers}});
  return one;
}

}  // namespace

std::string list_json() {
  ordered_json json = begin_json();
  for (const Lab& lab : labs())
    json["labs"].push_back({{"number", lab.number},
                            {"title", read_lab_page(lab).title},
                            {"questions", lab.questions.size()}});
  return write_json(json);
}

std::string task_json(const Lab& lab) {
  const LabPage page = read_lab_page(lab);
  ordered_json json = begin_json();
  json["lab"] = lab.number;
  json["title"] = page.title;
  json["markdown"] = page.introduction;
  for (const LabStep& step : page.steps)
    json["steps"].push_back({{"title", step.title}, {"markdown", step.task}});
  json["questions"] = ordered_json::array();
  for (const Question& question : lab.questions)
    json["questions"].push_back(question_json(question, page));
  return write_json(json);
}

std::string verdicts_json(const Lab& lab, const std::vector<Verdict>& verdicts) {
  ordered_json json = begin_json();
  json["lab"] = lab.number;
  json["all_right"] = all_right(verdicts);
  for (const Verdict& verdict : verdicts) json["verdicts"].push_back(verdict_json(verdict));
  return write_json(json);
}

std::string hints_json(const Lab& lab, const Question& question) {
  ordered_json json = begin_json();
  json["lab"] = lab.number;
  json["key"] = question.key;
  json["hints"] = {question.hint_1, question.hint_2};
  return write_json(json);
}

std::string show_json(const Lab& lab, const std::vector<const Question*>& questions) {
  const LabPage page = read_lab_page(lab);
  ordered_json json = begin_json();
  json["lab"] = lab.number;
  json["solutions"] = ordered_json::array();
  for (const Question* const question : questions) {
    const Solution solution = solve(*question);
    ordered_json one{{"key", question->key}};
    if (!solution.value.empty()) one["value"] = solution.value;
    if (!solution.arithmetic.empty()) one["arithmetic"] = solution.arithmetic;
    one["see"] = question->see;
    one["reveal"] = page.find_step(question->key)->reveal;
    json["solutions"].push_back(std::move(one));
  }
  return write_json(json);
}

}  // namespace rankwright::lab
