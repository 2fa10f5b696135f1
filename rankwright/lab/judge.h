// Judges answers: each is right, wrong with the reason and the arithmetic, open, or cannot be read.
// What is right is computed here and now, by the question's own function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/lab/answers.h"

namespace rankwright::lab {

enum class LabOutcome : unsigned char { right, wrong, open, unread };
std::string_view name(LabOutcome);

struct Verdict {
  const Question* question = nullptr;
  LabOutcome outcome = LabOutcome::open;
  std::string given{};       // as it was written
  std::string expected{};    // with its unit; of a plan nothing: there are many
  std::string arithmetic{};  // how it comes about
  std::string reason{};      // of a wrong or unread one: what is wrong with it

  struct Judged {
    std::string_view says;
    Met met;
  };
  std::vector<Judged> conditions{};  // of a plan
};

Verdict judge(const GivenAnswer& answer);
std::vector<Verdict> judge(const GivenAnswers& answers);

bool all_right(const std::vector<Verdict>& verdicts);

}  // namespace rankwright::lab
