// Judges answers: each is right, wrong with the reason and the arithmetic, open, or unreadable. The
// right answer is computed by the question's own function.
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
  std::string expected{};    // with its unit; empty for a plan, because many are right
  std::string arithmetic{};  // how the expected value follows
  std::string reason{};      // what is wrong, if the answer is wrong or unreadable

  /// One condition and its result.
  struct Judged {
    std::string_view says;
    ConditionResult met;
  };
  std::vector<Judged> conditions{};  // of a plan
};

/// Judges one answer.
Verdict judge(const GivenAnswer& answer);

/// Judges all answers, in order.
std::vector<Verdict> judge(const GivenAnswers& answers);

/// Returns whether all answers are right.
bool all_right(const std::vector<Verdict>& verdicts);

}  // namespace rankwright::lab
