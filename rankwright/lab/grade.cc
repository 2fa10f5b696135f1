#include "rankwright/lab/grade.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/syntax/yaml.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace grade_impl {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxName = 60;
constexpr LabOutcome kOutcomes[] = {LabOutcome::right, LabOutcome::wrong, LabOutcome::open,
                                    LabOutcome::unread};

std::string describe(const Diagnostic& d) {
  std::string text = d.message + (d.detail.empty() ? "" : ": " + d.detail);
  return fmt::format("{} [{}]", make_excerpt(text, 200), d.code);
}

/// Returns the lab that an answer file states with its key `lab`.
Result<i64> read_lab_number(std::string_view text, const std::string& path) {
  const Result<importer::YamlNode> root = importer::read_yaml(text, path);
  if (!root) return fail(root.error());
  const importer::YamlNode* const stated = root->find("lab");
  if (stated == nullptr)
    return fail({.code = "RW0933",
                 .message = "no lab given",
                 .detail = "an answer file starts with the key lab, as --template writes it"});
  const Result<i64> number = parse_count(stated->scalar, 1);
  if (!number || find_lab(*number) == nullptr)
    return fail({.code = "RW0933",
                 .message = "unknown lab",
                 .detail = fmt::format("lab: {}", make_excerpt(stated->scalar))});
  return *number;
}

/// A question with the number of files that answered it right.
struct QuestionStats {
  i64 lab = 0;
  std::string_view key;
  i64 right = 0, files = 0;
};

/// Returns the questions of all graded labs, those that most files missed first.
std::vector<QuestionStats> count_questions(const std::vector<Grade>& grades) {
  std::map<std::pair<i64, std::size_t>, QuestionStats> all;
  for (const Grade& one : grades)
    for (std::size_t i = 0; i < one.verdicts.size(); ++i) {
      QuestionStats& stats = all[{one.lab, i}];
      stats.lab = one.lab;
      stats.key = one.verdicts[i].question->key;
      ++stats.files;
      if (one.verdicts[i].outcome == LabOutcome::right) ++stats.right;
    }
  std::vector<QuestionStats> sorted;
  for (const auto& entry : all) sorted.push_back(entry.second);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const QuestionStats& a, const QuestionStats& b) {
                     return a.files - a.right > b.files - b.right;
                   });
  return sorted;
}

/// Returns the keys of a grade with this outcome: "bubble, held".
std::string list_keys(const Grade& grade, LabOutcome outcome) {
  std::string text;
  for (const Verdict& v : grade.verdicts)
    if (v.outcome == outcome)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", v.question->key);
  return text.empty() ? "-" : text;
}

ordered_json counts_json(const std::vector<Grade>& grades) {
  ordered_json json;
  for (const LabOutcome outcome : kOutcomes) {
    i64 sum = 0;
    for (const Grade& one : grades) sum += one.number(outcome);
    json[std::string(name(outcome))] = sum;
  }
  return json;
}

}  // namespace
}  // namespace grade_impl

i64 Grade::number(LabOutcome outcome) const {
  return std::count_if(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& v) { return v.outcome == outcome; });
}

Grade refuse_grade(const std::string& learner, const Diagnostic& why) {
  return {.learner = make_excerpt(learner, grade_impl::kMaxName),
          .fault = grade_impl::describe(why)};
}

Grade grade(const std::string& learner, std::string text, const std::string& path,
            const importer::FileReader& files) {
  const Result<i64> number = grade_impl::read_lab_number(text, path);
  if (!number) return refuse_grade(learner, number.error());
  GivenAnswers answers = read_answers(*find_lab(*number), std::move(text), path, files);
  sort(answers.findings);
  if (has_errors(answers.findings)) return refuse_grade(learner, answers.findings.front());
  return {.learner = make_excerpt(learner, grade_impl::kMaxName),
          .lab = *number,
          .verdicts = judge(answers)};
}

std::string grades_text(const std::vector<Grade>& grades, const report::Paint& paint,
                        std::size_t width) {
  report::Table files{.columns = {{"learner"},
                                  {"lab", report::kRight},
                                  {"right", report::kRight},
                                  {"wrong", report::kRight},
                                  {"open", report::kRight},
                                  {"unread", report::kRight},
                                  {"wrong keys"}}};
  i64 unreadable = 0;
  for (const Grade& one : grades) {
    if (!one.fault.empty()) {
      ++unreadable;
      files.rows.push_back({one.learner, "-", "-", "-", "-", "-", one.fault});
      continue;
    }
    std::vector<std::string> cells{one.learner, std::to_string(one.lab)};
    for (const LabOutcome outcome : grade_impl::kOutcomes)
      cells.push_back(std::to_string(one.number(outcome)));
    cells.push_back(grade_impl::list_keys(one, LabOutcome::wrong));
    files.rows.push_back(std::move(cells));
  }
  report::Table questions{.columns = {{"lab", report::kRight},
                                      {"question"},
                                      {"right", report::kRight},
                                      {"of", report::kRight}}};
  for (const grade_impl::QuestionStats& one : grade_impl::count_questions(grades))
    questions.rows.push_back({std::to_string(one.lab), std::string(one.key),
                              std::to_string(one.right), std::to_string(one.files)});
  std::string out = files.text(paint, "", width) + "\n";
  if (!questions.rows.empty()) out += questions.text(paint, "", width) + "\n";
  return out + fmt::format("{}, {} unreadable\n", plural(i64(grades.size()), "file", "files"),
                           unreadable);
}

std::string grades_json(const std::vector<Grade>& grades) {
  using grade_impl::ordered_json;
  ordered_json json{{"schema", "rankwright.lab_grades/1"}};
  json["files"] = ordered_json::array();
  for (const Grade& one : grades) {
    ordered_json file{{"learner", one.learner}};
    if (!one.fault.empty()) {
      file["error"] = one.fault;
    } else {
      file["lab"] = one.lab;
      for (const Verdict& v : one.verdicts)
        file["answers"][std::string(v.question->key)] = name(v.outcome);
      file["totals"] = grade_impl::counts_json({one});
    }
    json["files"].push_back(std::move(file));
  }
  json["questions"] = ordered_json::array();
  for (const grade_impl::QuestionStats& one : grade_impl::count_questions(grades))
    json["questions"].push_back(
        {{"lab", one.lab}, {"key", one.key}, {"right", one.right}, {"files", one.files}});
  json["totals"] = grade_impl::counts_json(grades);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::lab
