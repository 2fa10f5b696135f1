// Implements `explain` as library calls, one per view of a plan: the estimate, one rank, the
// stages, and the sensitivity to calibration constants. Also explains a diagnostic code, a plan key
// or a term. explain_timeline.h covers the simulated step, explain_faults.h slow and failed ranks,
// explain/sweep_view.h a plan per value of one setting, learn/explain_concept.h a concept with the
// numbers of a plan.
#pragma once

#include <optional>
#include <string>

#include "rankwright/catalog/glossary.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/planner/concept/concept_page.h"
#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/explain/rank_view.h"
#include "rankwright/planner/explain/sensitivity_view.h"
#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// A plan and its estimate in full.
struct ExplainAnswer {
  ValidPlan plan;
  ExplainView explain_view;
};

/// Reads a plan and estimates its step and memory.
Outcome<ExplainAnswer> explain_plan(const PlanSource& plan);

/// A plan and the view of one of its ranks.
struct ExplainRankAnswer {
  ValidPlan plan;
  RankView view;
};

/// Describes one rank of the plan. Refuses a rank outside the world.
Outcome<ExplainRankAnswer> explain_rank(const PlanSource& plan, i64 rank);

/// A plan and its pipeline stages.
struct ExplainStagesAnswer {
  ValidPlan plan;
  StagesView view;
};

/// Describes the stages of the plan.
Outcome<ExplainStagesAnswer> explain_stages(const PlanSource& plan);

/// A plan and the sensitivity of its estimate.
struct ExplainSensitivityAnswer {
  ValidPlan plan;
  SensitivityView view;
};

/// Computes how the plan's estimate changes with each calibration constant.
Outcome<ExplainSensitivityAnswer> explain_sensitivity(const PlanSource& plan);

/// Two plans, and the constants that would change which of them is faster.
struct ExplainRivalsAnswer {
  ValidPlan plan, against;
  RivalsView view;
};

/// Finds the constants that would change which of the two plans is faster.
Outcome<ExplainRivalsAnswer> explain_rivals(const PlanSource& plan, const SourceFile& against);

/// The views of a plan that the caller asks for.
struct ExplainViews {
  bool rank = false, stages = false, timeline = false, faults = false, sensitivity = false;
  bool against = false;  // a second plan for the sensitivity view
  bool sweep = false;    // of one setting, explain/sweep_view.h

  bool any() const {
    return rank || stages || timeline || faults || sensitivity || against || sweep;
  }
};

/// Returns the refusal of more than one view, or of `against` without sensitivity.
std::optional<Refusal> check_views(const ExplainViews& views);

/// Returns the refusal of a view or of an option that a schedule does not have.
std::optional<Refusal> check_schedule_views(const ExplainViews& views, const PlanSource& source);

/// The page of a diagnostic code, a plan key, a concept or a term of the glossary. One of them is
/// set.
struct ExplainTermAnswer {
  const rules::Page* page = nullptr;
  const importer::PlanKey* key = nullptr;
  const ConceptPage* concept_page = nullptr;
  const catalog::Term* term = nullptr;
};

/// Looks up a diagnostic code, in either case, a plan key, a concept or a term.
Outcome<ExplainTermAnswer> explain_term(const std::string& word);

}  // namespace rankwright::planner
