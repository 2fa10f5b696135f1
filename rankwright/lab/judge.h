// Judges answers: each is right with the arithmetic, wrong with the reason, open, or unreadable.
// The right answer is computed by the question's own function. A verdict never states the right
// value of a wrong answer: solve() does, for those who ask.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/lab/answers.h"

namespace rankwright::lab {

/// The result of judging one answer.
enum class LabOutcome : unsigned char { right, wrong, open, unread };
std::string_view name(LabOutcome);

/// The verdict on one answer.
struct Verdict {
  const Question* question = nullptr;
  LabOutcome outcome = LabOutcome::open;
  std::string given{};       // as written
  std::string arithmetic{};  // how the value follows; empty unless the answer is right
  std::string reason{};      // what is wrong, if the answer is wrong or unreadable

  /// One condition and its result.
  struct Judged {
    std::string_view says;
    ConditionResult met;
  };
  std::vector<Judged> conditions{};  // of a plan
};

/// The right answer to a question. All fields are empty for a plan, because many are right.
struct Solution {
  std::string value;       // with its unit
  std::string arithmetic;  // how it follows
  std::string hidden;      // the arithmetic with the result left out
};

/// Computes the right answer.
Solution solve(const Question& question);

/// Judges one answer.
Verdict judge(const GivenAnswer& answer);

/// Judges all answers, in order.
std::vector<Verdict> judge(const GivenAnswers& answers);

/// Returns whether all answers are right.
bool all_right(const std::vector<Verdict>& verdicts);

}  // namespace rankwright::lab
