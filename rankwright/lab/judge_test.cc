// Checks which answers are judged right and wrong: the stored answers of every lab, wrong answers
// to every question, and the tolerance.
#include "rankwright/lab/judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/lab/lab_text.h"
#include "tests/support/golden.h"

namespace rankwright::lab {
namespace judge_test {

std::string stored_path(const Lab& lab) {
  return fmt::format("{}/tests/data/labs/{:02}.yaml", RANKWRIGHT_SOURCE_DIR, lab.number);
}

GivenAnswer answer_value(const Question& question, double value) {
  return {.question = &question, .given = true, .text = "x", .value = value};
}

GivenAnswer answer_plan(const Question& question, const plan::TrainingConfig& plan) {
  return {.question = &question, .given = true, .text = "x", .value = 0, .plan = plan};
}

/// Returns the verdict on one key of an answer file.
Verdict judge_key(i64 number, const std::string& text, std::string_view key) {
  const GivenAnswers all =
      read_answers(*find_lab(number), text, "answer.yaml", importer::refuse_file);
  EXPECT_TRUE(all.findings.empty()) << text;
  for (const GivenAnswer& one : all.answers)
    if (one.question->key == key) return judge(one);
  ADD_FAILURE() << key;
  return {};
}

TEST(Judge, StoredAnswersOfEveryLab_AreRight) {
  ASSERT_FALSE(labs().empty());
  for (const Lab& lab : labs()) {
    const std::string path = stored_path(lab);
    const GivenAnswers all = read_answers(lab, golden::read(path), path, importer::read_file);
    EXPECT_TRUE(all.findings.empty()) << path;
    const std::vector<Verdict> verdicts = judge(all);
    EXPECT_EQ(verdicts.size(), lab.questions.size()) << path;
    EXPECT_TRUE(all_right(verdicts)) << verdicts_text(lab, verdicts, {.width = 100});
  }
}

TEST(Judge, WrongAnswerToEveryQuestion_IsWrongWithAReason) {
  std::string reasons;
  for (const Lab& lab : labs())
    for (const Question& q : lab.questions) {
      if (q.work == nullptr) continue;
      const WorkedAnswer worked = q.work(load_example_config(q.file));
      const bool choice = q.kind == AnswerKind::choice;
      for (std::size_t i = 0; i < q.choices.size(); ++i)
        EXPECT_EQ(judge(answer_value(q, double(i))).outcome == LabOutcome::right,
                  double(i) == worked.value);
      if (choice) continue;
      const Verdict wrong = judge(answer_value(q, 3 * worked.value + 1));
      EXPECT_EQ(wrong.outcome, LabOutcome::wrong) << q.key;
      reasons += fmt::format("{} {}: {}\n", lab.number, q.key, wrong.reason);
      EXPECT_EQ(wrong.arithmetic, "") << q.key;
      const Verdict right = judge(answer_value(q, worked.value));
      EXPECT_EQ(right.outcome, LabOutcome::right) << q.key;
      EXPECT_EQ(right.arithmetic, worked.arithmetic) << q.key;
      EXPECT_EQ(right.reason, "") << q.key;
      for (const CommonMistake& slip : worked.slips)
        EXPECT_EQ(judge(answer_value(q, slip.value)).reason, slip.why) << q.key;
    }
  // Answers are three times the right value, plus 1.
  golden::expect("lab/reasons-too-much.txt", reasons);
}

TEST(Judge, QuestionsOwnPlan_IsWrongWithTheConditionThatItBreaks) {
  std::string reasons;
  for (const Lab& lab : labs())
    for (const Question& q : lab.questions) {
      if (q.kind != AnswerKind::plan) continue;
      const Verdict verdict = judge(answer_plan(q, load_example_config(q.file)));
      EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << lab.page << " " << q.key;
      reasons += fmt::format("{} {}: {}\n", lab.number, q.key, verdict.reason);
    }
  golden::expect("lab/reasons-own-plan.txt", reasons);
}

TEST(Judge, PlanThatBreaksACondition_IsWrongWithTheCondition) {
  struct Case {
    i64 lab;
    std::string_view key, plan;
  };
  const Case cases[] = {
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 2, dp_size: 2}}"},
      {3, "faster", "{parallelism: {tp_size: 4, cp_size: 2, pp_size: 2}}"},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4}, job: {global_batch: 64}}"},
      {3, "faster", "{model: llama-3.2-1b, parallelism: {tp_size: 4, pp_size: 4}}"},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4}, job: {param_dtype: fp32}}"},
      {3, "faster", "{cluster: dgx-a100 x 2, parallelism: {tp_size: 4, pp_size: 4}}"},
      {3, "faster", "{cluster: hgx-h100-1nic x 2, parallelism: {tp_size: 4, pp_size: 4}}"},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4, recompute: full}}"},  // takes longer
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4}, software: {tuned: true}}"},
      {7, "better", "{parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}, software: {tuned: true}}"},
      {4, "inside", "{parallelism: {dp_size: 16, zero_stage: 2, shard_size: 8}}"},
      {4, "inside", "{parallelism: {tp_size: 4, pp_size: 4, dp_size: 1, zero_stage: 3}}"},
      {5, "plan", "{parallelism: {tp_size: 2, dp_size: 32}}"},  // does not fit in memory
      {5, "plan", "{parallelism: {tp_size: 16, pp_size: 4}}"},  // tp crosses nodes of 8
      {6, "cyclic", "{parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}}"},  // another placement
      {7, "better", "{parallelism: {tp_size: 16, pp_size: 4}}"},             // RW0301
      {9, "inside", "{parallelism: {tp_size: 8, dp_size: 4}}"},              // no cp
  };
  std::string reasons;
  for (const Case& one : cases) {
    const Verdict verdict = judge_key(one.lab, fmt::format("{}: {}\n", one.key, one.plan), one.key);
    EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << one.plan;
    reasons += fmt::format("{} {}: {}\n  {}\n", one.lab, one.key, one.plan, verdict.reason);
  }
  golden::expect("lab/reasons-conditions.txt", reasons);
}

TEST(Judge, PlanWithAViolation_IsWrongWithTheViolation) {
  // 4 x 3 = 12 ranks, but there are 16.
  const Verdict verdict =
      judge_key(3, "faster: {parallelism: {tp_size: 4, pp_size: 3, dp_size: 1}}\n", "faster");
  EXPECT_EQ(verdict.outcome, LabOutcome::wrong);
  golden::expect("lab/reason-violation.txt", verdict.reason + "\n");
  EXPECT_TRUE(verdict.conditions.empty());
}

TEST(Judge, UnreadableAnswer_IsReported_OthersAreJudged) {
  const GivenAnswers all =
      read_answers(*find_lab(3), "bubble: 27.3\nheld: 4\n", "answer.yaml", importer::refuse_file);
  const std::vector<Verdict> verdicts = judge(all);
  EXPECT_EQ(verdicts[0].outcome, LabOutcome::unread);
  EXPECT_EQ(verdicts[0].given, "27.3");
  golden::expect("lab/reason-unreadable.txt", verdicts[0].reason + "\n");
  EXPECT_EQ(verdicts[1].outcome, LabOutcome::right);
  EXPECT_FALSE(all_right(verdicts));
}

TEST(Judge, CommonMistakes_AreRecognized) {
  struct Case {
    i64 lab;
    std::string_view key, answer;
  };
  const Case cases[] = {
      {1, "copies", "1"},          {3, "bubble", "21.3 %"},     {4, "least", "3"},
      {4, "least", "0"},           {4, "traffic", "48"},        {4, "hidden", "18 %"},
      {5, "states", "112 GB"},     {6, "peer", "56"},           {6, "slower", "1.78"},
      {7, "tp_calls", "6,400"},    {7, "tp_calls", "6,657"},    {9, "ulysses", "8"},
      {10, "needs", "1.03 TiB"},   {10, "slow_rank", "1.56 %"}, {10, "stopped", "8"},
      {10, "stopped", "32"},       {3, "fewer", "75 %"},        {11, "all_reduce", "2.16 GB"},
      {12, "embedding", "8.4 GB"}, {13, "first_loss", "8"},     {14, "copies", "128"},
  };
  std::string reasons;
  for (const Case& one : cases) {
    const Verdict verdict =
        judge_key(one.lab, fmt::format("{}: {}\n", one.key, one.answer), one.key);
    EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << one.key << " " << one.answer;
    reasons += fmt::format("{} {}: {}\n  {}\n", one.lab, one.key, one.answer, verdict.reason);
  }
  golden::expect("lab/reasons-mistakes.txt", reasons);
}

TEST(Judge, FarOffAnswers_AreToldToCheckTheUnit) {
  // The states of 1.24 B parameters are 19.8 GB.
  EXPECT_EQ(judge_key(1, "states: 25 GB\n", "states").reason, "too large");
  EXPECT_EQ(judge_key(1, "states: 15 GB\n", "states").reason, "too small");
  EXPECT_EQ(judge_key(1, "states: 19.8 MB\n", "states").reason,
            "too small, by more than a factor of 10: check the unit");
  EXPECT_EQ(judge_key(1, "sequences: 1000\n", "sequences").reason,
            "too large, by more than a factor of 10");
}

TEST(Judge, MissingAnswer_IsOpen) {
  const Verdict verdict = judge_key(3, "held: 4\n", "bubble");
  EXPECT_EQ(verdict.outcome, LabOutcome::open);
  EXPECT_EQ(verdict.arithmetic, "");  // not revealed
}

RC_GTEST_PROP(Judge, AnswerIsRightExactlyWithinTheTolerance, ()) {
  std::vector<const Question*> numbers;
  for (const Lab& lab : labs())
    for (const Question& one : lab.questions)
      if (one.tolerance > 0) numbers.push_back(&one);
  const Question& q = **rc::gen::elementOf(numbers);
  const double value = q.work(load_example_config(q.file)).value;
  const double part = *rc::gen::inRange(0, 1000) / 1000.0;
  const double sign = *rc::gen::arbitrary<bool>() ? 1 : -1;
  const double inside = value * (1 + sign * part * q.tolerance * 0.999);
  const double outside = value * (1 + sign * q.tolerance * (1.001 + 10 * part));
  RC_ASSERT(judge(answer_value(q, inside)).outcome == LabOutcome::right);
  RC_ASSERT(judge(answer_value(q, outside)).outcome == LabOutcome::wrong);
}

}  // namespace judge_test
}  // namespace rankwright::lab
