// The numbers of a plan that belong to a concept: degree, shapes of what is split, memory with and
// without it, calls, bytes, links and its share of the step. Figures are those of the ExplainView,
// so `explain tp PLAN` and `explain PLAN` agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/planner/concept/concept_page.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::planner {

/// One number of a plan, as text and as a value.
struct ConceptFact {
  std::string label;
  std::string text;
  std::optional<double> value{};
  std::string unit{};  // of the value: "bytes", "seconds", "fraction", "count"
};

/// The numbers of a plan for one concept.
struct ConceptFacts {
  std::vector<ConceptFact> facts{};
  std::vector<CommunicationRow> communication{};  // rows of the view that belong to the concept
};

/// Returns the numbers of `config`, whose view is `view`. A straggler and a checkpoint need more
/// than the view: explain_concept() adds theirs. Requires: a config without constraint violations.
ConceptFacts list_facts(const ConceptPage& page, const plan::TrainingConfig& config,
                        const ExplainView& view);

/// Returns the peak memory of the fullest rank of a changed plan on as many devices as it then has;
/// nothing if the change violates a constraint.
std::optional<cost::MemoryEstimate> estimate_changed_memory(plan::TrainingConfig changed);

}  // namespace rankwright::planner
