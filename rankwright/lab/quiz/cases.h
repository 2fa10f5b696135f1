// The cases of the quiz: a model on a cluster, and the question which scheme to use. Nothing is
// stored: each scheme is evaluated by a search that is restricted to it, and every scheme within
// 10 % of the fastest is right.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/report/render/paint.h"
#include "rankwright/search/answer.h"

namespace rankwright::lab {

/// The schemes to choose from.
enum class Scheme : unsigned char { dp, fsdp, tp, pp, tp_pp, three_d };

/// One scheme: its name, its other names, and the plans that it allows.
struct SchemeRow {
  Scheme scheme;
  std::string_view name;   // "FSDP/ZeRO"
  std::string_view also;   // other names, separated by '|'
  std::string_view means;  // what a rank holds
  search::Range tp, pp, dp, zero;
};
std::span<const SchemeRow> list_schemes();
const SchemeRow& row(Scheme);

/// One case.
struct QuizCase {
  std::string id{};  // "case:1b"; empty: drawn at random
  search::Problem problem;
  std::vector<Scheme> choices;
};

/// Returns the four cases of the course: 1B on one node, 30B on one node, 200B on 64 GPUs, and 13B
/// on two nodes without TP and PP.
std::vector<QuizCase> list_course_cases();

/// Draws a dense model of the catalog and 1 to 64 GPUs on which its states fit once they are
/// sharded.
QuizCase draw_case(std::mt19937_64& random);

/// The cost of one scheme.
struct EvaluatedScheme {
  Scheme scheme;
  std::optional<search::EvaluatedPlan> plan{};  // the fastest; nothing if none fits
  std::optional<Bytes> least{};  // memory of the leanest plan if none fits; nothing if none exists
  double slower = 0;             // step time relative to the fastest scheme, minus 1
  bool right = false;            // within 10 % of the fastest
};

/// The largest difference to the fastest scheme that still counts as right.
inline constexpr double kCloseEnough = 0.1;

/// Evaluates every choice of a case.
std::vector<EvaluatedScheme> evaluate_case(const QuizCase& one);

/// Returns the scheme that a learner typed: its number in the list of choices, or a name.
std::optional<Scheme> parse_scheme(const QuizCase& one, std::string_view typed);

/// Write the question with its choices, and what each choice costs. Lines have at most `width`
/// characters.
std::string render_case_question(const QuizCase& one, std::size_t width);
std::string render_case_answer(const std::vector<EvaluatedScheme>& schemes,
                               const report::Paint& paint, std::size_t width);

}  // namespace rankwright::lab
