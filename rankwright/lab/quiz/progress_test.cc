#include "rankwright/lab/quiz/progress.h"

#include <gtest/gtest.h>

namespace rankwright::lab {
namespace progress_test {

constexpr i64 kToday = 20774;  // 2026-11-17: 56 years of 365 days, 14 leap days, 320 days

TEST(ParseDay, DaysSince1970) {
  EXPECT_EQ(parse_day("1970-01-01"), 0);
  EXPECT_EQ(parse_day("2026-11-17"), kToday);
  EXPECT_EQ(show_day(kToday), "2026-11-17");
  for (const char* text : {"", "2026-11-31", "2026-13-01", "2026-1-1", "17.11.2026", "2026-11-17T",
                           "-026-11-17", "2026x11x17"})
    EXPECT_FALSE(parse_day(text)) << text;
}

TEST(RecordAnswer, KnownCardsComeBackLaterAndOthersTomorrow) {
  QuizProgress progress;
  i64 day = kToday;
  // 1, 2, 4, 8, 16 and again 16 days.
  for (const auto& [box, days] : {std::pair{1, 1}, {2, 2}, {3, 4}, {4, 8}, {5, 16}, {5, 16}}) {
    record_answer(progress, "a", true, day);
    EXPECT_EQ(progress["a"], (CardProgress{box, day + days}));
    day += days;
  }
  record_answer(progress, "a", false, day);
  EXPECT_EQ(progress["a"], (CardProgress{1, day + 1}));
}

TEST(ReadProgress, ReadsWhatIsWritten) {
  const QuizProgress progress{{"course:dp", {3, kToday}}, {"term:\"x\"", {1, kToday + 1}}};
  const Result<QuizProgress> read = read_progress(write_progress(progress), "quiz.json");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, progress);
  EXPECT_TRUE(read_progress(write_progress({}), "quiz.json")->empty());
}

TEST(ReadProgress, AnythingElse_IsRefused) {
  const auto with_card = [](const std::string& card) {
    return "{\"schema\": \"rankwright.quiz/1\", \"cards\": {\"a\": " + card + "}}";
  };
  ASSERT_TRUE(read_progress(with_card("{\"box\": 5, \"due\": \"2026-11-17\"}"), "q").has_value());
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string("{\"cards\": {}}"),
        std::string("{\"schema\": \"rankwright.quiz/1\"}"),
        std::string("{\"schema\": \"rankwright.quiz/2\", \"cards\": {}}"), with_card("1"),
        with_card("{\"box\": 0, \"due\": \"2026-11-17\"}"),
        with_card("{\"box\": 6, \"due\": \"2026-11-17\"}"),
        with_card("{\"box\": 1.5, \"due\": \"2026-11-17\"}"),
        with_card("{\"box\": 99999999999999999999, \"due\": \"2026-11-17\"}"),
        with_card("{\"box\": 1, \"due\": 7}"), with_card("{\"box\": 1, \"due\": \"soon\"}"),
        std::string(std::size_t{2} << 20, ' '), std::string(100000, '[')})
    EXPECT_FALSE(read_progress(text, "q").has_value()) << text.substr(0, 80);
}

TEST(ChooseCards, DueFirstThenNewThenTheOthers) {
  const std::vector<QuizCard> cards{
      {.id = "later"}, {.id = "new"}, {.id = "due"}, {.id = "overdue"}};
  const QuizProgress progress{
      {"later", {2, kToday + 2}}, {"due", {1, kToday}}, {"overdue", {1, kToday - 5}}};
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    EXPECT_EQ(choose_cards(cards, progress, kToday, 9, random),
              (std::vector<std::size_t>{3, 2, 1, 0}));
    EXPECT_EQ(choose_cards(cards, progress, kToday, 1, random), (std::vector<std::size_t>{3}));
  }
}

TEST(ChooseCards, SeedDecidesTheOrderOfNewCards) {
  const std::span<const QuizCard> cards = list_quiz_cards();
  std::mt19937_64 one(1), again(1), other(2);
  const std::vector<std::size_t> first = choose_cards(cards, {}, kToday, 10, one);
  EXPECT_EQ(first, choose_cards(cards, {}, kToday, 10, again));
  EXPECT_NE(first, choose_cards(cards, {}, kToday, 10, other));
}

}  // namespace progress_test
}  // namespace rankwright::lab
