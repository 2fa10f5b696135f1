// The flash cards of the quiz: nine about the schemes of parallel training, and two per term of the
// glossary, from the term to its meaning and back.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/catalog/glossary.h"

namespace rankwright::lab {

/// One flash card.
struct QuizCard {
  std::string id{};     // in the progress file: "course:dp", "term:bubble", "meaning:bubble"
  std::string front{};  // the question side
  std::string back{};   // the answer side
  std::string see{};    // a command that shows it with numbers
  /// The term that the learner types; null: the learner grades the answer.
  const catalog::Term* term = nullptr;
};

/// Returns all cards: those about schemes first, then the glossary in its order.
std::span<const QuizCard> list_quiz_cards();

/// How a typed term compares with the one of a card.
enum class TermMatch : unsigned char { exact, misspelled, other };

/// Compares a typed term: in any case, with another name of the term, or with a typo.
TermMatch match_term(const catalog::Term& term, std::string_view typed);

/// Returns a definition in which a blank replaces the names of the term, whole words only.
std::string hide_term(const catalog::Term& term);

/// Write all cards for printing, one side per page: the question, then the answer.
std::string print_cards_markdown(std::span<const QuizCard> cards);
std::string print_cards_html(std::span<const QuizCard> cards);

}  // namespace rankwright::lab
