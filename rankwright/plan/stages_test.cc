#include "rankwright/plan/stages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright::plan {
namespace stages_test {

std::string round_trip(std::string_view text) {
  const Result<Stages> stages = parse_layout(text);
  return stages ? show_layout(*stages) : stages.error().detail;
}

std::string error_of(std::string_view text) {
  const Result<Stages> stages = parse_layout(text);
  if (stages) return "no error";
  EXPECT_EQ(stages.error().code, "RW0915");
  EXPECT_EQ(stages.error().key, "parallelism.stages");
  return stages.error().detail;
}

TEST(ParseLayout, GrammarExample_IsParsed) {
  // Ettt, then 29 times tt, then m, then L: 1 + 29 + 1 + 1 = 32 stages with 3 + 58 = 61 layers.
  const Result<Stages> stages = parse_layout("Ettt|(tt|)*29,m|L");
  ASSERT_TRUE(stages.has_value());
  ASSERT_EQ(stages->size(), 32u);
  EXPECT_EQ(stages->front(), (Stage{.layers = 3, .embedding = true}));
  EXPECT_EQ((*stages)[1], (Stage{.layers = 2}));
  EXPECT_EQ((*stages)[29], (Stage{.layers = 2}));
  EXPECT_EQ((*stages)[30], (Stage{.layers = 0, .mtp = 1}));
  EXPECT_EQ(stages->back(), (Stage{.layers = 0, .loss = true}));
  EXPECT_EQ(count_layers(*stages), 61);
}

TEST(ParseLayout, OneStage_IsParsed) {
  EXPECT_EQ(parse_layout("EttL").value(), (Stages{{.layers = 2, .embedding = true, .loss = true}}));
}

TEST(ParseLayout, NestedRepeats_AreExpanded) {
  // ((t*2|)*2 t|)*2 expands to tt|tt|t| twice.
  EXPECT_EQ(show_layers(parse_layout("E((t*2|)*2t|)*2L").value()), "2 2 1 2 2 1 0");
}

TEST(ParseLayout, CommasAndSpaces_AreIgnored) {
  EXPECT_EQ(parse_layout(" E,t t | t,L ").value(), parse_layout("Ett|tL").value());
}

TEST(ParseLayout, TrailingStageEnd_IsAccepted) {
  EXPECT_EQ(parse_layout("Et|tL|").value(), parse_layout("Et|tL").value());
  EXPECT_EQ(error_of("Et|tL||"), "missing loss (L) in the last stage");
}

TEST(ParseLayout, InvalidText_IsRejectedWithItsPosition) {
  EXPECT_EQ(error_of("Et|xL"), "'x' at character 4 of 'Et|xL'");
  EXPECT_EQ(error_of("Et\x01L"), "'?' at character 3 of 'Et?L'");
  EXPECT_EQ(error_of("Et)L"), "')' without a '(' at character 3 of 'Et)L'");
  EXPECT_EQ(error_of("E(tL"), "no ')' for the '(' at character 5 of 'E(tL'");
  EXPECT_EQ(error_of("Et*L"), "no number after '*' at character 4 of 'Et*L'");
  EXPECT_EQ(error_of("Et*0L"), "no number after '*' at character 5 of 'Et*0L'");
  EXPECT_EQ(error_of("Et*8193L"), "a repeat of more than 8,192 at character 8 of 'Et*8193L'");
}

TEST(ParseLayout, EmbeddingMustBeFirstAndLossLast) {
  EXPECT_EQ(error_of(""), "missing embedding (E) in the first stage");
  EXPECT_EQ(error_of("tL"), "missing embedding (E) in the first stage");
  EXPECT_EQ(error_of("tEL"), "the embedding (E) is not first");
  EXPECT_EQ(error_of("EEL"), "the embedding (E) is not first");
  EXPECT_EQ(error_of("Et|EtL"), "the embedding (E) is not first");
  EXPECT_EQ(error_of("Et|t"), "missing loss (L) in the last stage");
  EXPECT_EQ(error_of("EtL|t"), "missing loss (L) in the last stage");
  EXPECT_EQ(error_of("EtL|tL"), "the loss (L) appears twice");
  EXPECT_EQ(error_of("EtLt"), "the loss (L) is not last");
}

TEST(ParseLayout, Expansion_IsBounded) {
  EXPECT_TRUE(parse_layout("E(|)*8191tL").has_value());  // 8,192 stages
  EXPECT_EQ(error_of("E(|)*8192tL"), "more than 8,192 stages");
  EXPECT_NE(error_of("E((t)*8192)*8192L").find("more than 1,048,576 symbols"), std::string::npos);
  EXPECT_TRUE(parse_layout("E((((((((t))))))))L").has_value());  // 8 deep
  EXPECT_NE(error_of("E(((((((((t)))))))))L").find("nested more than 8 levels deep"),
            std::string::npos);
}

RC_GTEST_PROP(ParseLayout, AnyText_GivesStagesOrAnError, ()) {
  const std::string text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("EttttmL||||(()))***123 ,x")));
  const Result<Stages> stages = parse_layout(text);
  RC_ASSERT(stages.has_value() || stages.error().code == "RW0915");
}

TEST(ShowLayout, FoldsRepeatsAndLongStages) {
  EXPECT_EQ(round_trip("Ettt|(tt|)*29m|L"), "Ettt|(tt|)*29m|L");
  EXPECT_EQ(round_trip("Ett|tt|tt|ttL"), "Ett|tt|tt|ttL");      // two equal stages are not folded
  EXPECT_EQ(round_trip("Ett|tt|tt|tt|ttL"), "Ett|(tt|)*3ttL");  // three are folded
  EXPECT_EQ(round_trip("Ettttt|ttttmL"), "Et*5|ttttmL");        // from five layers on
}

/// Makes stages as a file may state them: runs of equal ones in the middle, including empty ones.
Stages random_stages() {
  Stages stages;
  const int runs = *rc::gen::inRange(1, 6);
  for (int run = 0; run < runs; ++run) {
    const Stage stage{.layers = *rc::gen::inRange<i64>(0, 9), .mtp = *rc::gen::inRange<i64>(0, 3)};
    stages.insert(stages.end(), *rc::gen::inRange<std::size_t>(1, 7), stage);
  }
  stages.front().embedding = true;
  stages.back().loss = true;
  return stages;
}

TEST(ShowLayout, LongRepeats_AreSplitToBeParseable) {
  // 6 x 8,192 layers in one stage.
  const Stages stages = parse_layout("E(t*8192)*6L").value();
  EXPECT_EQ(parse_layout(show_layout(stages)).value(), stages);
}

RC_GTEST_PROP(ShowLayout, RoundTrips, ()) {
  const Stages stages = random_stages();
  const Result<Stages> again = parse_layout(show_layout(stages));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == stages);
}

TEST(EvenStages, Remainder_GoesToTheMiddle) {
  // 42 layers on 4 stages: 10 each and 2 left over, for the two in the middle.
  EXPECT_EQ(show_layers(split_evenly(42, 4, 0)), "10 11 11 10");
  // 30 on 4: 7 each and 2 left over. 7 on 4: 1 each and 3 left over, from stage (4 - 3) / 2 = 0 on.
  EXPECT_EQ(show_layers(split_evenly(30, 4, 0)), "7 8 8 7");
  EXPECT_EQ(show_layers(split_evenly(7, 4, 0)), "2 2 2 1");
  EXPECT_EQ(show_layers(split_evenly(0, 2, 0)), "0 0");
}

TEST(EvenStages, MtpAndLossAreLast) {
  EXPECT_EQ(split_evenly(4, 2, 1),
            (Stages{{.layers = 2, .embedding = true}, {.layers = 2, .mtp = 1, .loss = true}}));
  EXPECT_EQ(split_evenly(4, 2, 1), make_listed_stages({2, 2}, 1));
}

RC_GTEST_PROP(EvenStages, KeepAllLayersAndDifferByAtMostOne, ()) {
  const i64 layers = *rc::gen::inRange<i64>(0, 200);
  const i64 count = *rc::gen::inRange<i64>(1, 40);
  const Stages stages = split_evenly(layers, count, 0);
  RC_ASSERT(i64(stages.size()) == count);
  RC_ASSERT(count_layers(stages) == layers);
  for (const Stage& stage : stages) RC_ASSERT(std::abs(stage.layers - layers / count) <= 1);
  for (const Stage& stage : stages) RC_ASSERT(stage.layers >= layers / count);
  // The last stage has the output head: it is never larger than another.
  for (const Stage& stage : stages) RC_ASSERT(stages.back().layers <= stage.layers);
}

}  // namespace stages_test
}  // namespace rankwright::plan
