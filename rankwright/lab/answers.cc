#include "rankwright/lab/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/syntax/fields.h"

namespace rankwright::lab {
namespace {

constexpr std::string_view kLabKey = "lab";

/// Returns the answer's config. Settings of the task that the answer leaves open are the
/// question's.
plan::TrainingConfig complete_config(importer::Draft draft, const plan::TrainingConfig& given) {
  if (!draft.model && !given.reference_model) draft.model = given.model;
  if (!draft.cluster && !draft.shape) draft.cluster = given.cluster;
  if (!draft.world && !draft.shape) draft.world = given.world;
  if (!draft.global_batch) draft.global_batch = given.job.global_batch;
  if (!draft.sequence) draft.sequence = given.job.sequence;
  if (!draft.param_dtype) draft.param_dtype = given.job.param_dtype;
  if (!draft.grad_dtype) draft.grad_dtype = given.job.grad_dtype;
  return resolve(draft);
}

/// Reads the plan from the answer itself, or from a file that it names, in the format of any
/// framework.
importer::PlanFile read_answer_plan(const importer::YamlNode& node, const GivenAnswers& all,
                                    const importer::FileReader& files) {
  if (node.kind != importer::YamlNode::Kind::scalar)
    return read_plan(node, all.text, all.name, files);
  const std::string path = importer::beside(all.name, node.scalar);
  Result<std::string> text = files(path);
  if (text) {
    importer::PlanFile plan = importer::read_any_plan(std::move(*text), path, files);
    // Only the layout counts: evaluate a framework's file with the software of the question.
    if (plan.format != nullptr && plan.format->target != rules::Target::any)
      plan.draft.framework.reset();
    return plan;
  }
  importer::PlanFile plan{.name = path, .text = {}};
  plan.findings.push_back(text.error());
  return plan;
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return 'A' <= c && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return small;
}

/// Returns the index of a word, ignoring case.
std::optional<std::size_t> read_choice(importer::FieldReader& fields, importer::YamlNode node,
                                       std::span<const std::string_view> words) {
  node.scalar = lower(node.scalar);
  return fields.one_of(node, words);
}

void read_one(importer::FieldReader& fields, const importer::YamlNode& node,
              const GivenAnswers& all, const importer::FileReader& files, GivenAnswer& answer) {
  if (node.kind == importer::YamlNode::Kind::null) return;
  const Question& question = *answer.question;
  answer.text = node.kind == importer::YamlNode::Kind::scalar ? make_excerpt(node.scalar)
                                                              : "the plan in the file";
  if (question.kind == AnswerKind::plan) {
    importer::PlanFile plan = read_answer_plan(node, all, files);
    answer.given = !has_errors(plan.findings);
    for (Diagnostic& finding : plan.findings) fields.report(node, std::move(finding));
    if (answer.given) answer.plan = complete_config(plan.draft, load_example_config(question.file));
  } else if (question.kind == AnswerKind::choice) {
    const std::optional<std::size_t> word = read_choice(fields, node, question.choices);
    answer.given = word.has_value();
    if (word) answer.value = double(*word);
  } else if (fields.expect(node, importer::YamlNode::Kind::scalar, row(question.kind).words)) {
    const std::optional<double> value = fields.take(node, row(question.kind).parse(node.scalar));
    answer.given = value.has_value();
    if (value) answer.value = *value;
  }
}

/// Moves the errors of this answer from `findings` to the answer.
void move_faults(Diagnostics& findings, std::size_t before, GivenAnswer& answer) {
  const auto first = findings.begin() + std::ptrdiff_t(before);
  const auto errors = std::stable_partition(
      first, findings.end(), [](const Diagnostic& d) { return d.severity != Severity::error; });
  answer.faults.assign(errors, findings.end());
  findings.erase(errors, findings.end());
}

Diagnostic other_lab_error(const Lab& lab, std::string detail) {
  return {.code = "RW0933",
          .message = "these answers are not for this lab",
          .detail = std::move(detail),
          .hint = fmt::format("start with rankwright lab {} --template", lab.number)};
}

/// Reports a file that states another lab, or that has no key of this lab.
void check_lab(const Lab& lab, const importer::YamlNode& root, importer::FieldReader& fields) {
  const importer::YamlNode* const stated = root.find(kLabKey);
  if (stated != nullptr) {
    const std::optional<i64> number = fields.whole(*stated, 1, kMaxCount);
    if (number && *number != lab.number)
      fields.report(*stated, other_lab_error(lab, fmt::format("it answers lab {}, not lab {}",
                                                              *number, lab.number)));
    return;
  }
  const bool any = std::any_of(lab.questions.begin(), lab.questions.end(),
                               [&](const Question& q) { return root.find(q.key) != nullptr; });
  if (!any)
    fields.report(root, other_lab_error(lab, fmt::format("it has none of the {} keys of lab {}",
                                                         lab.questions.size(), lab.number)));
}

}  // namespace

GivenAnswers read_answers(const Lab& lab, std::string text, std::string name,
                          const importer::FileReader& files) {
  GivenAnswers all{.name = std::move(name), .text = std::move(text)};
  for (const Question& question : lab.questions) all.answers.push_back({.question = &question});
  const Result<importer::YamlNode> root = importer::read_yaml(all.text, all.name);
  if (!root) {
    all.findings.push_back(root.error());
    return all;
  }
  importer::FieldReader fields(all.name, all.findings);
  std::vector<std::string_view> keys;
  for (const Question& question : lab.questions) keys.push_back(question.key);
  keys.push_back(kLabKey);
  if (!fields.expect(*root, importer::YamlNode::Kind::map, "a map (`key: value`)")) return all;
  check_lab(lab, *root, fields);
  if (has_errors(all.findings)) return all;
  fields.each(*root, keys, [&](std::size_t index, const importer::YamlNode& value) {
    if (index >= all.answers.size()) return;
    const std::size_t before = all.findings.size();
    read_one(fields, value, all, files, all.answers[index]);
    move_faults(all.findings, before, all.answers[index]);
  });
  return all;
}

}  // namespace rankwright::lab
