// The pages of `explain tp` and `explain all-reduce`: for each concept of parallel training what is
// split, which collective keeps it consistent, what it gains and costs, how it fails and how to
// measure it. Names and definitions are those of the glossary; concept_facts.h has the numbers of a
// plan.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "rankwright/catalog/glossary.h"
#include "rankwright/cost/step.h"
#include "rankwright/planner/concept/collective.h"

namespace rankwright::planner {

/// One concept. Texts are plain sentences; an empty one does not apply.
struct ConceptPage {
  std::string_view term;   // name of its entry in the glossary
  std::string_view typed;  // what to type: "tp"
  std::optional<Collective> collective{};
  std::optional<cost::Item> item{};  // of the step, whose traffic belongs to the concept
  std::string_view formula{};
  std::string_view bytes{};  // of a collective, for d ranks and N bytes of payload
  std::string_view steps{};
  std::string_view splits{};
  std::string_view copies{};  // what every rank holds in full
  std::string_view sync{};    // what keeps the copies or parts consistent
  std::string_view when{};
  std::string_view link{};
  std::string_view used{};  // of a collective: which axis uses it, and when
  std::string_view relation{};
  std::string_view gains{};
  std::string_view costs{};
  std::string_view failure{};
  std::string_view measure{};
  std::array<std::string_view, 3> next{};  // commands and arguments of rankwright

  const catalog::Term& entry() const;
};

/// One labeled text of a page.
struct ConceptLine {
  std::string_view label;
  std::string_view ConceptPage::*text;
};

/// Returns the labeled texts in the order in which a page shows them.
std::span<const ConceptLine> concept_lines();

/// Returns all pages: collectives, axes, then other concepts.
std::span<const ConceptPage> concept_pages();

/// Returns the page of a term of the glossary or of another name for it; null if there is none.
const ConceptPage* find_concept(std::string_view word);

// The rows of the table, by subject.
std::span<const ConceptPage> collective_pages();
std::span<const ConceptPage> axis_pages();
std::span<const ConceptPage> pipeline_and_run_pages();

}  // namespace rankwright::planner
