// A question of a lab: a row with the function that computes its answer from a TrainingConfig. No
// answer is stored: the library's result is right, with the arithmetic that a person would write on
// paper. The text of a question is in the lab's page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/plan/plan.h"

namespace rankwright::lab {

/// The kind of value that answers a question.
enum class AnswerKind : unsigned char { whole, number, percent, bytes, time, choice, plan };

/// One kind of answer: how people write it, and how it is read and shown.
struct AnswerKindRow {
  AnswerKind kind;
  std::string_view name;                                // "bytes"
  std::string_view words;                               // "a size with its unit"
  std::string_view example;                             // "19.8 GB"
  Result<double> (*parse)(std::string_view) = nullptr;  // null: a choice or a plan
  std::string (*show)(double) = nullptr;
};

/// Returns all kinds.
std::span<const AnswerKindRow> answer_kinds();

/// Returns the row of a kind.
const AnswerKindRow& row(AnswerKind);

/// The result of a common mistake, and what the mistake is.
struct CommonMistake {
  double value = 0;
  std::string why;
};

/// An answer with its arithmetic. For a choice, the value is the index of the right word.
struct WorkedAnswer {
  double value = 0;
  std::string arithmetic;
  std::vector<CommonMistake> slips{};
};

/// Whether a plan meets a condition, with the numbers that decide it.
struct ConditionResult {
  bool met = false;
  std::string numbers;
};

/// A condition that an answer's plan must meet. `given` is the question's own config.
struct Condition {
  std::string_view says;  // "fits in memory"
  ConditionResult (*met)(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);
};

/// One question of a lab.
struct Question {
  std::string_view key;  // in the answer file and in the page
  AnswerKind kind;
  std::string_view file;  // the plan that it is about, in examples/
  WorkedAnswer (*work)(const plan::TrainingConfig& given) = nullptr;  // null: the answer is a plan
  std::string_view see;     // the command that shows the answer
  std::string_view hint_1;  // what to think about
  std::string_view hint_2;  // the formula, without numbers put in
  double tolerance = 0;     // allowed error as a share of the value
  std::span<const std::string_view> choices{};
  std::span<const Condition> conditions{};
};

/// Tolerance for exact values: an answer may be rounded to three digits.
inline constexpr double kRounded = 0.01;

/// Tolerance for estimates: a value read off a table is close enough.
inline constexpr double kEstimated = 0.03;

/// Returns the spellings of the right value that a text may have: "19.8 GB" and "18.4 GiB", or
/// "1,024" and "1024". For a choice, the right word. Requires: the question is not about a plan.
std::vector<std::string> list_spellings(const Question& question, const WorkedAnswer& worked);

/// Returns whether `text` has `word` between characters that do not continue a number or a word.
bool contains_word(std::string_view text, std::string_view word);

/// Returns the arithmetic with the result left out as "?". For a choice, all words are left out.
std::string hide_result(const Question& question, const WorkedAnswer& worked);

/// Returns whether `answer` equals the value, within the question's tolerance.
bool near(const Question& question, double answer, double value);

}  // namespace rankwright::lab
