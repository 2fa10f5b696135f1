// Checks the tables: every page matches its questions, and every plan of a question is possible.
#include "rankwright/lab/lab.h"

#include <gmock/gmock.h>

#include <set>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/lab/lab_text.h"
#include "rankwright/lab/page.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/support/golden.h"

namespace rankwright::lab {
namespace lab_test {

using ::testing::HasSubstr;

TEST(Labs, Numbers_AreConsecutive_TitlesAreSet) {
  i64 number = 0;
  for (const Lab& lab : labs()) {
    EXPECT_EQ(lab.number, ++number);
    EXPECT_EQ(find_lab(lab.number), &lab);
    EXPECT_FALSE(read_lab_page(lab).title.empty()) << lab.page;
    EXPECT_FALSE(lab.questions.empty()) << lab.page;
  }
  EXPECT_GE(number, 10);
  EXPECT_EQ(find_lab(0), nullptr);
  EXPECT_EQ(find_lab(number + 1), nullptr);
}

TEST(Labs, Questions_MatchThePageInOrder) {
  ASSERT_FALSE(labs().empty());
  for (const Lab& lab : labs()) {
    std::vector<std::string> asked, keys;
    for (const LabStep& step : read_lab_page(lab).steps)
      for (const auto& question : step.questions) asked.push_back(question.first);
    for (const Question& question : lab.questions) keys.emplace_back(question.key);
    EXPECT_EQ(asked, keys) << lab.page;
  }
}

TEST(Labs, EveryPage_HasAnIntroductionAndAPicture_ShortBlocks) {
  ASSERT_FALSE(labs().empty());
  for (const Lab& lab : labs()) {
    const std::string page(find_lab_file("docs/labs/" + std::string(lab.page)));
    EXPECT_THAT(std::string(read_lab_page(lab).introduction), HasSubstr(" minutes")) << lab.page;
    EXPECT_THAT(page, HasSubstr("](../pictures/labs/")) << lab.page;
    int lines = -1;  // of the current block, its command excluded; -1 outside blocks
    for (const std::string& line : golden::lines(page)) {
      const bool fence = line.starts_with("```");
      if (fence) lines = lines < 0 ? 0 : -1;
      if (!fence && lines >= 0 && line != "..." && !line.starts_with("$ ")) ++lines;
      EXPECT_LE(lines, 8) << lab.page << ": " << line;
    }
  }
}

TEST(Labs, EveryChoice_IsNamedInThePage) {
  int choices = 0;
  for (const Lab& lab : labs())
    for (const Question& question : lab.questions)
      for (const std::string_view word : question.choices) {
        EXPECT_THAT(std::string(read_lab_page(lab).words(question.key)),
                    HasSubstr("`" + std::string(word) + "`"))
            << lab.page << " " << question.key;
        ++choices;
      }
  EXPECT_GT(choices, 0);
}

TEST(Labs, EveryLab_IsInTheIndex) {
  const std::string index = golden::read(RANKWRIGHT_SOURCE_DIR "/docs/labs/index.md");
  ASSERT_FALSE(labs().empty());
  for (const Lab& lab : labs()) EXPECT_THAT(index, HasSubstr("](" + std::string(lab.page) + ")"));
}

TEST(Questions, EveryQuestion_HasTheFieldsOfItsKind) {
  ASSERT_FALSE(labs().empty());
  for (const Lab& lab : labs()) {
    std::set<std::string_view> keys;
    ASSERT_FALSE(lab.questions.empty()) << lab.page;
    for (const Question& q : lab.questions) {
      const bool plan = q.kind == AnswerKind::plan, choice = q.kind == AnswerKind::choice;
      EXPECT_TRUE(keys.insert(q.key).second) << q.key << " stands twice in " << lab.page;
      EXPECT_EQ(q.work == nullptr, plan) << q.key;
      EXPECT_EQ(q.conditions.empty(), !plan) << q.key;
      EXPECT_EQ(q.choices.empty(), !choice) << q.key;
      const bool exact = plan || choice || q.kind == AnswerKind::whole;
      EXPECT_EQ(q.tolerance == 0, exact) << q.key;
      EXPECT_TRUE(q.see.starts_with("rankwright ")) << q.key;
    }
  }
}

TEST(Questions, PlansOfQuestions_AreValidAndSelfContained) {
  std::size_t questions = 0;
  for (const Lab& lab : labs())
    for (const Question& q : lab.questions) {
      ++questions;
      const std::string path = "examples/" + std::string(q.file);
      ASSERT_FALSE(find_lab_file(path).empty()) << path;
      const importer::PlanFile plan =
          importer::read_plan(std::string(find_lab_file(path)), path, importer::refuse_file);
      EXPECT_TRUE(plan.findings.empty()) << path;
      EXPECT_TRUE(find_violations(load_example_config(q.file)).empty()) << path;
    }
  EXPECT_GE(questions, labs().size());
  EXPECT_GT(questions, 0u);
}

TEST(Questions, Arithmetic_IsSet_MistakesAreWrong) {
  std::size_t mistakes = 0;
  for (const Lab& lab : labs())
    for (const Question& q : lab.questions) {
      if (q.work == nullptr) continue;
      const WorkedAnswer worked = q.work(load_example_config(q.file));
      EXPECT_FALSE(worked.arithmetic.empty()) << q.key;
      for (const CommonMistake& slip : worked.slips) {
        EXPECT_FALSE(near(q, slip.value, worked.value)) << lab.page << " " << q.key << slip.why;
        EXPECT_FALSE(slip.why.empty()) << q.key;
        ++mistakes;
      }
    }
  EXPECT_GT(mistakes, labs().size());
}

TEST(Kinds, Examples_AreParsed) {
  // 8.57 % is 0.0857, 19.8 GB is 19.8e9, 412 ms is 0.412.
  EXPECT_DOUBLE_EQ(*row(AnswerKind::percent).parse("8.57 %"), 0.0857);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::bytes).parse("19.8 GB"), 19.8e9);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::time).parse("412 ms"), 0.412);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::whole).parse("1,024"), 1024);
  // Other spellings that people use.
  EXPECT_DOUBLE_EQ(*row(AnswerKind::whole).parse("32.0"), 32);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::number).parse("2.23x"), 2.23);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::bytes).parse("19.8 gb"), 19.8e9);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::bytes).parse("2 kib "), 2048);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::bytes).parse("7 b"), 7);
  EXPECT_DOUBLE_EQ(*row(AnswerKind::time).parse("412 MS"), 0.412);
  EXPECT_FALSE(row(AnswerKind::whole).parse("32.5"));
  EXPECT_FALSE(row(AnswerKind::whole).parse("-32.0"));
  EXPECT_FALSE(row(AnswerKind::number).parse("x"));
  EXPECT_FALSE(row(AnswerKind::bytes).parse("gb"));
  EXPECT_FALSE(row(AnswerKind::bytes).parse(""));
  EXPECT_FALSE(row(AnswerKind::percent).parse("8.57"));
  EXPECT_FALSE(row(AnswerKind::bytes).parse("19.8"));
  EXPECT_FALSE(row(AnswerKind::percent).parse("%"));
  EXPECT_FALSE(row(AnswerKind::percent).parse(""));
  for (const AnswerKindRow& kind : answer_kinds())
    EXPECT_TRUE(kind.parse == nullptr || kind.parse(kind.example)) << kind.name;
}

TEST(LabPage, Steps_AreParsed) {
  const LabPage page = parse_lab_page(
      "# 3. Title\n\nIntro.\n\n## One\n\nDo it.\n\n- `a` What\n  is it?\n- `b` And this?\n\n"
      "<details markdown=\"1\">\n<summary>Reveal</summary>\n\n```console\n## not a step\n```\n\n"
      "</details>\n\n## Two\n\nText.\n");
  EXPECT_EQ(page.title, "Title");
  EXPECT_EQ(page.introduction, "Intro.");
  ASSERT_EQ(page.steps.size(), 2u);
  EXPECT_EQ(page.steps[0].title, "One");
  EXPECT_EQ(page.steps[0].task, "Do it.");
  EXPECT_EQ(page.steps[0].reveal, "```console\n## not a step\n```");
  EXPECT_EQ(page.words("a"), "What is it?");
  EXPECT_EQ(page.find_step("b"), &page.steps[0]);
  EXPECT_EQ(page.find_step("c"), nullptr);
  EXPECT_EQ(page.steps[1].task, "Text.");
  EXPECT_TRUE(page.steps[1].questions.empty());
}

TEST(Markdown, Prose_IsWrapped_ConsoleBlocksAreNot) {
  const std::string text = render_markdown(
      "## A head\n\none `two` and\nthree\n- a\n- [b](c.md)\n\n```console\n$ x   y\n```\n",
      {.width = 12});
  EXPECT_EQ(text, "A head\n\none two and\nthree\n- a\n- b\n\n    $ x   y\n");
}

TEST(Markdown, Pictures_AreDrawnOrDescribed) {
  const std::string picture = "![Four stages](x.svg)\nDrawn by `rankwright explain p --timeline`\n";
  EXPECT_EQ(render_markdown(picture, {.width = 80}),
            "Picture: Four stages\nDrawn by rankwright explain p --timeline\n");
  const auto draw = [](const std::string& command, std::size_t) { return "[" + command + "]\n"; };
  EXPECT_EQ(render_markdown(picture, {.width = 80, .draw = draw}),
            "[rankwright explain p --timeline]\nDrawn by rankwright explain p --timeline\n");
}

TEST(Markdown, Tables_AreAligned) {
  EXPECT_EQ(render_markdown("| a | b |\n|---|---|\n| long | `c` |\n", {.width = 80}),
            "  a     b\n  long  c\n");
}

TEST(LabPlans, PagesAndQuestions_AreListedOnce) {
  const std::vector<std::string> plans = list_lab_plans(*find_lab(2));
  EXPECT_EQ(plans,
            (std::vector<std::string>{"examples/labs/tp-16.yaml", "examples/labs/tp-8.yaml"}));
  for (const Lab& lab : labs())
    for (const std::string& plan : list_lab_plans(lab)) EXPECT_FALSE(find_lab_file(plan).empty());
}

}  // namespace lab_test
}  // namespace rankwright::lab
