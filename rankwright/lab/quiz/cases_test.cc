#include "rankwright/lab/quiz/cases.h"

#include <gtest/gtest.h>

#include <chrono>

#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace cases_test {

const QuizCase& find_case(const std::vector<QuizCase>& cases, const std::string& id) {
  for (const QuizCase& one : cases)
    if (one.id == id) return one;
  ADD_FAILURE() << "no case " << id;
  return cases.front();
}

/// Evaluates a case of the course; returns the result of one scheme.
EvaluatedScheme evaluate(const std::string& id, Scheme scheme) {
  const std::vector<QuizCase> cases = list_course_cases();
  for (const EvaluatedScheme& one : evaluate_case(find_case(cases, id)))
    if (one.scheme == scheme) return one;
  ADD_FAILURE() << id;
  return {};
}

TEST(CourseCases, OneBillionOnOneNode_DataParallelismIsRight) {
  EXPECT_TRUE(evaluate("case:1b", Scheme::dp).right);
}

TEST(CourseCases, ThirtyBillionOnOneNode_DoesNotFitWithoutSplitting) {
  const EvaluatedScheme dp = evaluate("case:30b", Scheme::dp);
  EXPECT_FALSE(dp.plan.has_value());
  // 30 B parameters x 16 bytes = 480 GB; a node has 8 x 80 GB.
  EXPECT_GT(dp.least, Bytes{30e9 * 14});
  EXPECT_TRUE(evaluate("case:30b", Scheme::tp).right);
  EXPECT_TRUE(evaluate("case:30b", Scheme::fsdp).plan.has_value());
}

TEST(CourseCases, TwoHundredBillionOn64_NeedsTensorAndPipeline) {
  EXPECT_TRUE(evaluate("case:200b", Scheme::three_d).right);
  EXPECT_FALSE(evaluate("case:200b", Scheme::dp).right);
  EXPECT_FALSE(evaluate("case:200b", Scheme::fsdp).right);
}

TEST(CourseCases, ThirteenBillionWithoutModelParallelism_Shards) {
  const std::vector<QuizCase> cases = list_course_cases();
  EXPECT_EQ(find_case(cases, "case:13b-two-nodes").choices,
            (std::vector<Scheme>{Scheme::dp, Scheme::fsdp}));
  EXPECT_TRUE(evaluate("case:13b-two-nodes", Scheme::fsdp).right);
  EXPECT_FALSE(evaluate("case:13b-two-nodes", Scheme::dp).plan.has_value());
}

// Law: some scheme is right, right ones are within 10 % of the fastest, and every plan is of its
// scheme. Each case is quick enough to wait for.
TEST(DrawnCases, FastestIsRightAndPlansAreOfTheirScheme) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    const QuizCase one = draw_case(random);
    EXPECT_LE(one.problem.config.world, 64);
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<EvaluatedScheme> schemes = evaluate_case(one);
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(20));  // with sanitizers
    ASSERT_EQ(schemes.size(), one.choices.size());
    int fastest = 0;
    for (const EvaluatedScheme& e : schemes) {
      fastest += e.right && e.slower == 0;
      EXPECT_EQ(e.right, e.plan && e.slower <= kCloseEnough) << seed;
      if (!e.plan) continue;
      const plan::Plan& plan = e.plan->config.plan;
      EXPECT_TRUE(row(e.scheme).tp.has(plan.tp) && row(e.scheme).pp.has(plan.pp) &&
                  row(e.scheme).dp.has(plan.dp) && row(e.scheme).zero.has(plan.zero))
          << row(e.scheme).name;
      EXPECT_TRUE(e.plan->estimate.fits());
    }
    EXPECT_GE(fastest, 1) << seed;
  }
}

TEST(DrawCase, ManyDraws_AreAllPlannable) {
  std::mt19937_64 random(9);
  for (int k = 0; k < 200; ++k) EXPECT_GE(draw_case(random).problem.config.world, 1);
}

TEST(DrawCase, SeedDecides) {
  std::mt19937_64 one(5), again(5);
  EXPECT_EQ(render_case_question(draw_case(one), 80), render_case_question(draw_case(again), 80));
}

TEST(ParseScheme, NumbersAndNames) {
  const std::vector<QuizCase> cases = list_course_cases();
  const QuizCase& all = find_case(cases, "case:1b");
  EXPECT_EQ(parse_scheme(all, "1"), Scheme::dp);
  EXPECT_EQ(parse_scheme(all, "2."), Scheme::fsdp);
  EXPECT_EQ(parse_scheme(all, "ZeRO"), Scheme::fsdp);
  EXPECT_EQ(parse_scheme(all, "tp+pp"), Scheme::tp_pp);
  EXPECT_EQ(parse_scheme(all, "3D"), Scheme::three_d);
  EXPECT_EQ(parse_scheme(all, "Tensor parallelism"), Scheme::tp);
  for (const char* text : {"", "0", "99", "magic", "1 2"})
    EXPECT_FALSE(parse_scheme(all, text)) << text;
  // A scheme that the case excludes is not a choice.
  EXPECT_FALSE(parse_scheme(find_case(cases, "case:13b-two-nodes"), "3D"));
}

TEST(RenderCase, FitsNarrowTerminals) {
  const std::vector<QuizCase> cases = list_course_cases();
  const QuizCase& one = find_case(cases, "case:200b");
  const std::vector<EvaluatedScheme> schemes = evaluate_case(one);
  for (const std::size_t width : {60u, 80u, 120u}) {
    std::string text = render_case_question(one, width) + render_case_answer(schemes, {}, width);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      EXPECT_LE(report::display_width(text.substr(0, end)), width) << text.substr(0, end);
      text.erase(0, end + 1);
    }
  }
}

}  // namespace cases_test
}  // namespace rankwright::lab
