// A question of a lab: a row with the function that computes its answer from a TrainingConfig. No
// answer is written down anywhere: what the library computes is right, and the arithmetic that it
// gives is what a person would write on paper. The words of a question stand in the lab's page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/plan/plan.h"

namespace rankwright::lab {

enum class AnswerKind : unsigned char { whole, number, percent, bytes, time, choice, plan };

/// One row a kind: how people write such an answer, and how it is read and shown.
struct AnswerKindRow {
  AnswerKind kind;
  std::string_view name;                                // "bytes"
  std::string_view words;                               // "a size with its unit"
  std::string_view example;                             // "19.8 GB"
  Result<double> (*parse)(std::string_view) = nullptr;  // nothing: a choice, a plan
  std::string (*show)(double) = nullptr;
};
std::span<const AnswerKindRow> answer_kinds();
const AnswerKindRow& row(AnswerKind);

/// A value that comes of a usual mistake, and what the mistake is.
struct Slip {
  double value = 0;
  std::string why;
};

/// An answer with its arithmetic. Of a choice the value is the index of the right word.
struct Worked {
  double value = 0;
  std::string arithmetic;
  std::vector<Slip> slips{};
};

/// Whether a plan meets a condition, with the numbers that say so.
struct Met {
  bool met = false;
  std::string numbers;
};

/// What a plan that is asked for must be. `given` is the question's own config.
struct Condition {
  std::string_view says;  // "fits in memory"
  Met (*met)(const plan::TrainingConfig& answer, const plan::TrainingConfig& given);
};

struct Question {
  std::string_view key;  // in the answer file, and in the page
  AnswerKind kind;
  std::string_view file;  // the plan that it is about, in examples/
  Worked (*work)(const plan::TrainingConfig& given) = nullptr;  // nothing: a plan is asked for
  std::string_view see;                                         // what to type to see it
  double tolerance = 0;  // share of the value that an answer may be off
  std::span<const std::string_view> choices{};
  std::span<const Condition> conditions{};
};

/// Rounding of an answer to three digits is never wrong.
inline constexpr double kRounded = 0.01;
/// Times are estimates: what is read off a table is near enough.
inline constexpr double kEstimated = 0.03;

/// Whether `answer` is the value: equal, or within the tolerance of it.
bool near(const Question& question, double answer, double value);

}  // namespace rankwright::lab
