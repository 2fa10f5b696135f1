// The learner's progress: the Leitner box of each card and the day on which it is due again. A card
// that was known moves to the next box (1, 2, 4, 8 and 16 days), another one back to the first.
// Reads and writes text; the caller reads and writes the file and knows the date.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"
#include "rankwright/lab/quiz/cards.h"

namespace rankwright::lab {

/// Days until a card of each box is due again.
inline constexpr i64 kBoxDays[] = {1, 2, 4, 8, 16};
inline constexpr int kBoxes = int(std::size(kBoxDays));

/// The progress of one card.
struct CardProgress {
  int box = 1;  // 1 to kBoxes
  i64 due = 0;  // day, counted from 1970-01-01

  friend bool operator==(const CardProgress&, const CardProgress&) = default;
};

using QuizProgress = std::map<std::string, CardProgress>;  // by id of the card

/// Reads a progress file. The input is untrusted: its size is limited, and everything in it must be
/// valid, because the file is written again.
Result<QuizProgress> read_progress(std::string_view text, const std::string& name);

/// Writes schema rankwright.quiz/1.
std::string write_progress(const QuizProgress& progress);

/// Records an answer on day `today`.
void record_answer(QuizProgress& progress, const std::string& id, bool right, i64 today);

/// Parses "2026-11-17" as a day, and writes it.
std::optional<i64> parse_day(std::string_view text);
std::string show_day(i64 day);

/// Chooses `count` cards in the order in which they are asked: due cards with the longest overdue
/// first, then new ones in random order, then the others by their day.
std::vector<std::size_t> choose_cards(std::span<const QuizCard> cards, const QuizProgress& progress,
                                      i64 today, std::size_t count, std::mt19937_64& random);

}  // namespace rankwright::lab
