// Checks that no text states the right value before the learner asks for it: tasks, templates,
// hints, and verdicts on wrong answers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "rankwright/lab/session.h"

namespace rankwright::lab {
namespace answers_first_test {

/// Calls `test` for every question that has a value.
template <class Test>
void for_each_value(const Test& test) {
  std::size_t questions = 0;
  for (const Lab& lab : labs())
    for (const Question& question : lab.questions) {
      if (question.kind == AnswerKind::plan) continue;
      test(lab, question, question.work(load_example_config(question.file)));
      ++questions;
    }
  EXPECT_GT(questions, labs().size());
}

/// Returns the spellings of the value that cannot be in a text by chance: those with at least three
/// digits. Degrees such as 8, and the words of a choice, are part of the task.
std::vector<std::string> telling_spellings(const Question& question, const WorkedAnswer& worked) {
  std::vector<std::string> spellings = list_spellings(question, worked);
  std::erase_if(spellings, [&](const std::string& text) {
    return question.kind == AnswerKind::choice ||
           std::count_if(text.begin(), text.end(),
                         [](unsigned char c) { return std::isdigit(c) != 0; }) < 3;
  });
  return spellings;
}

void expect_hidden(const std::string& text, const Lab& lab, const Question& question,
                   const WorkedAnswer& worked, std::string_view where) {
  for (const std::string& value : telling_spellings(question, worked))
    EXPECT_FALSE(contains_word(text, value))
        << lab.page << ": " << where << " states '" << value << "' of " << question.key;
}

TEST(AnswersFirst, TaskTemplateAndBeginning_DoNotStateTheValue) {
  for_each_value([](const Lab& lab, const Question& question, const WorkedAnswer& worked) {
    expect_hidden(task_text(lab, {.width = 1000}), lab, question, worked, "the task");
    expect_hidden(task_json(lab), lab, question, worked, "the task as JSON");
    expect_hidden(template_text(lab), lab, question, worked, "the template");
    expect_hidden(Session(lab, {.width = 1000}, importer::refuse_file).begin(), lab, question,
                  worked, "the session");
  });
}

TEST(AnswersFirst, PageBeforeTheReveal_DoesNotStateTheValue) {
  for_each_value([](const Lab& lab, const Question& question, const WorkedAnswer& worked) {
    const std::string_view page = find_lab_file("docs/labs/" + std::string(lab.page));
    const std::string_view reveal = read_lab_page(lab).find_step(question.key)->reveal;
    expect_hidden(std::string(page.substr(0, std::size_t(reveal.data() - page.data()))), lab,
                  question, worked, "the page");
  });
}

TEST(AnswersFirst, EveryQuestion_HasTwoHintsWithoutTheValue) {
  for (const Lab& lab : labs())
    for (const Question& question : lab.questions) {
      EXPECT_FALSE(question.hint_1.empty()) << lab.page << " " << question.key;
      EXPECT_FALSE(question.hint_2.empty()) << lab.page << " " << question.key;
      EXPECT_NE(question.hint_1, question.hint_2) << question.key;
    }
  for_each_value([](const Lab& lab, const Question& question, const WorkedAnswer& worked) {
    for (const std::string& value : list_spellings(question, worked))
      for (const std::string_view hint : {question.hint_1, question.hint_2})
        EXPECT_FALSE(contains_word(hint, value)) << lab.page << " " << question.key << ": " << hint;
  });
}

TEST(AnswersFirst, ArithmeticWithoutItsResult_DoesNotStateTheValue) {
  for_each_value([](const Lab& lab, const Question& question, const WorkedAnswer& worked) {
    const std::string hidden = hide_result(question, worked);
    EXPECT_FALSE(hidden.empty());
    for (const std::string& value : list_spellings(question, worked))
      EXPECT_FALSE(contains_word(hidden, value))
          << lab.page << " " << question.key << ": " << hidden;
  });
}

TEST(AnswersFirst, WrongAnswers_DoNotStateTheValue) {
  for_each_value([](const Lab& lab, const Question& question, const WorkedAnswer& worked) {
    std::vector<double> wrong = {3 * worked.value + 1, worked.value / 3 - 1,
                                 worked.value * 100 + 1};
    for (const CommonMistake& slip : worked.slips) wrong.push_back(slip.value);
    if (question.kind == AnswerKind::choice) {
      wrong.clear();
      for (std::size_t i = 0; i < question.choices.size(); ++i)
        if (double(i) != worked.value) wrong.push_back(double(i));
    }
    for (const double value : wrong) {
      const Verdict verdict =
          judge(GivenAnswer{.question = &question, .given = true, .text = "mine", .value = value});
      EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << lab.page << " " << question.key;
      EXPECT_FALSE(verdict.reason.empty()) << lab.page << " " << question.key;
      EXPECT_EQ(verdict.arithmetic, "");
      expect_hidden(verdicts_text(lab, {verdict}, {.width = 1000}), lab, question, worked,
                    "a verdict");
      expect_hidden(verdicts_json(lab, {verdict}), lab, question, worked, "a verdict as JSON");
    }
  });
}

TEST(Spellings, WordsAreWhole) {
  EXPECT_TRUE(contains_word("it is 27.3 %.", "27.3 %"));
  EXPECT_TRUE(contains_word("= 32", "32"));
  EXPECT_TRUE(contains_word("32, then", "32"));
  EXPECT_FALSE(contains_word("127.3 %", "27.3 %"));
  EXPECT_FALSE(contains_word("2,048", "2"));
  EXPECT_FALSE(contains_word("2,048", "048"));
  EXPECT_FALSE(contains_word("tp2", "2"));
  EXPECT_FALSE(contains_word("x", ""));
}

TEST(Spellings, ResultIsLeftOut) {
  // 64 / (8 x 4) = 2: the result is hidden, its inputs are not.
  const Question& dp = find_lab(6)->questions[0];
  EXPECT_EQ(hide_result(dp, dp.work(load_example_config(dp.file))), "64 / (8 x 4) = ?");
}

}  // namespace answers_first_test
}  // namespace rankwright::lab
