#include <nlohmann/json.hpp>

#include "rankwright/lab/lab_text.h"

namespace rankwright::lab {
namespace {

using nlohmann::ordered_json;

ordered_json begin_json() { return {{"schema", "rankwright.lab/1"}}; }
std::string write_json(const ordered_json& json) { return json.dump(2) + "\n"; }

ordered_json question_json(const Question& question, const LabPage& page) {
  ordered_json one{{"key", question.key},
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
  if (!v.expected.empty()) one["expected"] = v.expected;
  if (!v.arithmetic.empty()) one["arithmetic"] = v.arithmetic;
  if (!v.reason.empty()) one["reason"] = v.reason;
  for (const Verdict::Judged& judged : v.conditions)
    one["conditions"].push_back(
        {{"says", judged.says}, {"met", judged.met.met}, {"numbers", judged.met.numbers}});
  one["see"] = v.question->see;
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
  json["markdown"] = page.task;
  json["about"] = page.about;
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

}  // namespace rankwright::lab
