#include "rankwright/lab/worksheet/words.h"

#include <gtest/gtest.h>

namespace rankwright::lab {
namespace words_test {

cluster::Cluster two_levels() {
  return {.levels = {{.name = "nvlink", .arity = 8}, {.name = "infiniband", .arity = 8}}};
}

TEST(NormalizeAnswer, CaseHyphensMarkupAndUnits_BecomeWords) {
  EXPECT_EQ(normalize_answer("**All-Gather**, per `layer`"), " all gather per layer ");
  EXPECT_EQ(normalize_answer("TP8 / 8-way"), " tp 8 8 way ");
  EXPECT_EQ(normalize_answer("8x6,592"), " 8 x 6592 ");
  EXPECT_EQ(normalize_answer("H100"), " h100 ");
  EXPECT_EQ(normalize_answer(""), " ");
  EXPECT_EQ(normalize_answer("\xff\x01|"), " ");
}

TEST(Mentions, StemsMatchTheBeginningOfWords) {
  const std::string text = normalize_answer("two collectives in all layers");
  EXPECT_TRUE(mentions(text, "matmul|layer"));
  EXPECT_TRUE(mentions(text, "all layer"));
  EXPECT_FALSE(mentions(text, "ayer"));
  EXPECT_FALSE(mentions(text, "layer "));  // the word is "layers"
  EXPECT_FALSE(mentions(text, ""));
}

TEST(ListNumbers, DigitsAndWords) {
  EXPECT_EQ(list_numbers(normalize_answer("eight, not 16")), (std::vector<i64>{8, 16}));
  EXPECT_EQ(list_numbers(normalize_answer("1,024 ranks")), (std::vector<i64>{1024}));
  EXPECT_TRUE(list_numbers(normalize_answer("h100")).empty());
  // A number of any length is read without overflow.
  EXPECT_EQ(list_numbers(normalize_answer(std::string(500, '9'))).size(), 1u);
}

TEST(ClassifyAnswer, EmptyAndPlaceholders_AreOpen) {
  for (const char* text : {"", "  ", "?", "...", "…", "___", "TODO", "tbd", "**"})
    EXPECT_EQ(classify_answer(text), AnswerForm::open) << text;
  for (const char* text : {"-", "–", "—", "--"})
    EXPECT_EQ(classify_answer(text), AnswerForm::dash) << text;
  for (const char* text : {"none", "N/A", "not used", "`none`"})
    EXPECT_EQ(classify_answer(text), AnswerForm::none) << text;
  EXPECT_EQ(classify_answer("8"), AnswerForm::text);
}

TEST(FindAxes, NamesAndWhatTheySplit) {
  EXPECT_EQ(find_axes(normalize_answer("TP and pipeline")), (AxisSet{.tp = true, .pp = true}));
  EXPECT_EQ(find_axes(normalize_answer("FSDP")), (AxisSet{.dp = true}));
  EXPECT_EQ(find_axes(normalize_answer("sequence parallelism")), (AxisSet{.tp = true}));
  EXPECT_EQ(find_axes(normalize_answer("the sequence")), (AxisSet{.cp = true}));
  EXPECT_TRUE(find_axes(normalize_answer("steps of time")).empty());
}

TEST(FindLevels, WaysToNameTheNode_AreTheInnermostLevel) {
  for (const char* text : {"inside nvlink", "within a node", "intra-node", "NVSwitch", "same node",
                           "in one node", "inside", "node-local", "the fastest link"}) {
    const LevelSet found = find_levels(normalize_answer(text), two_levels());
    EXPECT_TRUE(found.inner() && !found.beyond()) << text;
  }
}

TEST(FindLevels, WaysToNameTheNetwork_AreBeyondTheNode) {
  for (const char* text : {"across infiniband", "IB", "inter-node", "between nodes", "across",
                           "over the network", "inside infiniband"}) {
    const LevelSet found = find_levels(normalize_answer(text), two_levels());
    EXPECT_TRUE(!found.inner() && found.beyond()) << text;
  }
}

TEST(FindLevels, BothAnyAndNone) {
  const LevelSet both = find_levels(normalize_answer("8 in nvlink x 4 across nodes"), two_levels());
  EXPECT_TRUE(both.inner() && both.beyond());
  EXPECT_TRUE(find_levels(normalize_answer("any link"), two_levels()).any);
  EXPECT_TRUE(find_levels(normalize_answer("blue"), two_levels()).empty());
}

TEST(NormalizeAssertion, DeniedWordsAreLeftOut) {
  EXPECT_EQ(normalize_assertion("inside nvlink, not across nodes"), " inside nvlink ");
  EXPECT_EQ(normalize_assertion("never across nodes; inside"), " inside ");
  EXPECT_EQ(normalize_assertion("not"), " ");
}

}  // namespace words_test
}  // namespace rankwright::lab
