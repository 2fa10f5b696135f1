// Checks which answers are judged right and wrong: the stored answers of every lab, wrong answers
// to every question, and the tolerance.
#include "rankwright/lab/judge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/lab/lab_text.h"
#include "tests/support/golden.h"

namespace rankwright::lab {
namespace judge_test {

using ::testing::HasSubstr;

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
  for (const Lab& lab : labs()) {
    const std::string path = stored_path(lab);
    const GivenAnswers all = read_answers(lab, golden::read(path), path, importer::read_file);
    EXPECT_TRUE(all.findings.empty()) << path;
    const std::vector<Verdict> verdicts = judge(all);
    EXPECT_TRUE(all_right(verdicts)) << verdicts_text(lab, verdicts, {}, 100);
  }
}

TEST(Judge, WrongAnswerToEveryQuestion_IsWrongWithAReason) {
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
      const bool count = q.kind == AnswerKind::whole;
      EXPECT_THAT(wrong.reason, HasSubstr(count ? "" : "times too much")) << q.key;
      EXPECT_FALSE(wrong.expected.empty()) << q.key;
      EXPECT_EQ(wrong.arithmetic, worked.arithmetic) << q.key;
      for (const CommonMistake& slip : worked.slips)
        EXPECT_EQ(judge(answer_value(q, slip.value)).reason, slip.why) << q.key;
    }
}

TEST(Judge, QuestionsOwnPlan_IsWrong) {
  for (const Lab& lab : labs())
    for (const Question& q : lab.questions) {
      if (q.kind != AnswerKind::plan) continue;
      const Verdict verdict = judge(answer_plan(q, load_example_config(q.file)));
      EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << lab.page << " " << q.key;
      EXPECT_THAT(verdict.reason, HasSubstr("it must ")) << q.key;
    }
}

TEST(Judge, PlanThatBreaksACondition_IsWrongWithTheCondition) {
  struct Case {
    i64 lab;
    std::string_view key, plan, reason;
  };
  const Case cases[] = {
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 2, dp_size: 2}}", "pp 2 dp 2 instead of"},
      {3, "faster", "{parallelism: {tp_size: 4, cp_size: 2, pp_size: 2}}",
       "tp 4 cp 2 pp 2 dp 1 instead of tp 4 cp 1 pp 4 dp 1"},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4}, job: {global_batch: 64}}",
       "job.global_batch: 64 instead of 8"},
      {3, "faster", "{model: llama-3.2-1b, parallelism: {tp_size: 4, pp_size: 4}}", "llama-3.2-1b"},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4}, job: {param_dtype: fp32}}",
       "job.param_dtype: fp32 instead of bf16"},
      {3, "faster", "{cluster: dgx-a100 x 2, parallelism: {tp_size: 4, pp_size: 4}}",
       "cluster: dgx-a100 x 2 (16 a100-80g, "},
      {3, "faster", "{cluster: hgx-h100-1nic x 2, parallelism: {tp_size: 4, pp_size: 4}}",
       "cluster: hgx-h100-1nic x 2 (16 h100-sxm, "},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4, recompute: full}}", " longer"},
      {3, "faster", "{parallelism: {tp_size: 4, pp_size: 4}, software: {tuned: true}}",
       "software.tuned: true instead of false"},
      {7, "better", "{parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}, software: {tuned: true}}",
       "software.tuned: true instead of false"},
      {4, "inside", "{parallelism: {dp_size: 16, zero_stage: 2, shard_size: 8}}", "zero_stage: 2"},
      {4, "inside", "{parallelism: {tp_size: 4, pp_size: 4, dp_size: 1, zero_stage: 3}}",
       "groups of one rank"},
      {5, "plan", "{parallelism: {tp_size: 2, dp_size: 32}}", "fit in memory"},
      {5, "plan", "{parallelism: {tp_size: 16, pp_size: 4}}", "cross infiniband"},
      {6, "cyclic", "{parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}}", "another placement"},
      {7, "better", "{parallelism: {tp_size: 16, pp_size: 4}}", "RW0301"},
      {9, "inside", "{parallelism: {tp_size: 8, dp_size: 4}}", "cp 1"},
  };
  for (const Case& one : cases) {
    const Verdict verdict = judge_key(one.lab, fmt::format("{}: {}\n", one.key, one.plan), one.key);
    EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << one.plan;
    EXPECT_THAT(verdict.reason, HasSubstr(std::string(one.reason))) << one.plan;
  }
}

TEST(Judge, PlanWithAViolation_IsWrongWithTheViolation) {
  // 4 x 3 = 12 ranks, but there are 16.
  const Verdict verdict =
      judge_key(3, "faster: {parallelism: {tp_size: 4, pp_size: 3, dp_size: 1}}\n", "faster");
  EXPECT_EQ(verdict.outcome, LabOutcome::wrong);
  EXPECT_THAT(verdict.reason, HasSubstr("tp 4 x pp 3 x dp 1 = 12, but world_size is 16"));
  EXPECT_THAT(verdict.reason, HasSubstr("[RW0102]"));
  EXPECT_TRUE(verdict.conditions.empty());
}

TEST(Judge, UnreadableAnswer_IsReported_OthersAreJudged) {
  const GivenAnswers all =
      read_answers(*find_lab(3), "bubble: 27.3\nheld: 4\n", "answer.yaml", importer::refuse_file);
  const std::vector<Verdict> verdicts = judge(all);
  EXPECT_EQ(verdicts[0].outcome, LabOutcome::unread);
  EXPECT_EQ(verdicts[0].given, "27.3");
  EXPECT_EQ(verdicts[0].expected, "");
  EXPECT_THAT(verdicts[0].reason, HasSubstr("answer.yaml:1:9: not a quantity with a unit"));
  EXPECT_THAT(verdicts[0].reason, HasSubstr("has no % sign [RW0909]; such as"));
  EXPECT_EQ(verdicts[2].outcome, LabOutcome::right);
  EXPECT_FALSE(all_right(verdicts));
}

TEST(Judge, CommonMistakes_AreRecognized) {
  struct Case {
    i64 lab;
    std::string_view key, answer, reason;
  };
  const Case cases[] = {
      {1, "copies", "1", "every rank of the node has a copy"},
      {3, "bubble", "21.3 %", "of the estimated step"},
      {4, "least", "3", "a lower stage does, too"},
      {4, "least", "0", "does not fit"},
      {4, "traffic", "48", "an all-reduce sends its tensor twice"},
      {4, "hidden", "77 %", "which the calls take alone"},
      {5, "states", "112 GB", "of 7 billion parameters"},
      {6, "peer", "56", "the last of its group"},
      {6, "slower", "1.78", "how much longer"},
      {7, "tp_calls", "6,400", "inside the layers"},
      {7, "tp_calls", "6,657", "no rank runs all kinds"},
      {9, "ulysses", "8", "also divide the key-value heads"},
      {10, "needs", "1.03 TiB", "the states alone"},
      {10, "slow_rank", "1.56 %", "one of 64"},
      {10, "stopped", "8", "its tp group"},
      {10, "stopped", "32", "its copy of the model"},
  };
  for (const Case& one : cases) {
    const Verdict verdict =
        judge_key(one.lab, fmt::format("{}: {}\n", one.key, one.answer), one.key);
    EXPECT_EQ(verdict.outcome, LabOutcome::wrong) << one.key << " " << one.answer;
    EXPECT_THAT(verdict.reason, HasSubstr(std::string(one.reason))) << one.key;
  }
}

TEST(Judge, MissingAnswer_IsOpen) {
  const Verdict verdict = judge_key(3, "held: 4\n", "bubble");
  EXPECT_EQ(verdict.outcome, LabOutcome::open);
  EXPECT_EQ(verdict.expected, "");  // not revealed
  EXPECT_EQ(verdict.arithmetic, "");
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
