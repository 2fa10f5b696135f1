// Implements `explain CONCEPT PLAN` as a library call: the page of a concept with the numbers of a
// plan. explain_term() returns the page alone.
#pragma once

#include <string>

#include "rankwright/planner/concept/concept_facts.h"
#include "rankwright/planner/concept/concept_page.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// The slowdown of one rank that `explain straggler PLAN` shows.
inline constexpr double kShownSlowdown = 1.2;

/// A concept, a plan, and the plan's numbers for it.
struct ConceptAnswer {
  const ConceptPage* page = nullptr;
  ValidPlan plan;
  ConceptFacts facts;
};

/// Explains a concept with the numbers of a plan. Refuses a word that is not a concept.
Outcome<ConceptAnswer> explain_concept(const std::string& word, const PlanSource& plan);

}  // namespace rankwright::planner
