#include "rankwright/lab/quiz/cards.h"

#include <gtest/gtest.h>

#include <set>

namespace rankwright::lab {
namespace cards_test {

TEST(QuizCards, HaveUniqueIdsTwoSidesAndACommand) {
  std::set<std::string> ids;
  for (const QuizCard& card : list_quiz_cards()) {
    EXPECT_TRUE(ids.insert(card.id).second) << card.id;
    EXPECT_FALSE(card.front.empty()) << card.id;
    EXPECT_FALSE(card.back.empty()) << card.id;
    EXPECT_TRUE(card.see.starts_with("rankwright ")) << card.id;
  }
}

TEST(QuizCards, NineAboutSchemesAndTwoPerTerm) {
  std::size_t course = 0, typed = 0;
  for (const QuizCard& card : list_quiz_cards()) {
    course += card.id.starts_with("course:");
    typed += card.term != nullptr;
  }
  EXPECT_EQ(course, 9u);
  EXPECT_EQ(typed, catalog::glossary().size());
  EXPECT_EQ(list_quiz_cards().size(), 9 + 2 * catalog::glossary().size());
}

TEST(HideTerm, NamesAreBlankAndOtherWordsStay) {
  const catalog::Term term{
      .name = "stage",
      .also = {"pipeline stage"},
      .definition = "A pipeline stage has layers. Stages, staged work and backstage differ."};
  EXPECT_EQ(hide_term(term), "A ___ has layers. ___, staged work and backstage differ.");
}

// Law: the front of a card that asks for a term does not contain it.
TEST(QuizCards, TypedTerms_AreNotInTheQuestion) {
  for (const QuizCard& card : list_quiz_cards())
    if (card.term != nullptr) {
      EXPECT_EQ((" " + card.front + " ").find(" " + card.term->name + " "), std::string::npos)
          << card.front;
    }
}

TEST(MatchTerm, NamesSynonymsAndTypos) {
  const catalog::Term& bubble = *catalog::find_term("bubble");
  EXPECT_EQ(match_term(bubble, "Bubble"), TermMatch::exact);
  EXPECT_EQ(match_term(bubble, "buble"), TermMatch::misspelled);
  EXPECT_EQ(match_term(bubble, "schedule"), TermMatch::other);  // another term
  EXPECT_EQ(match_term(bubble, ""), TermMatch::other);
  EXPECT_EQ(match_term(bubble, std::string(100000, 'b')), TermMatch::other);
  for (const catalog::Term& term : catalog::glossary())
    for (const std::string& name : term.also)
      EXPECT_EQ(match_term(term, name), TermMatch::exact) << name;
}

TEST(PrintCards, QuestionAndAnswerAreOnTheirOwnPages) {
  const QuizCard card{.id = "x", .front = "a < b?", .back = "yes & no", .see = "rankwright lab"};
  const std::string html = print_cards_html({&card, 1});
  EXPECT_NE(html.find("<section><h2>1</h2><p>a &lt; b?</p></section>"), std::string::npos) << html;
  EXPECT_NE(html.find("<p>yes &amp; no</p>"), std::string::npos);
  const std::string markdown = print_cards_markdown({&card, 1});
  EXPECT_LT(markdown.find("## 1\n"), markdown.find("page-break-after"));
  EXPECT_LT(markdown.find("page-break-after"), markdown.find("## 1, answer\n"));
}

}  // namespace cards_test
}  // namespace rankwright::lab
