// `explain` as library calls, one per view of a plan: its worksheet, one rank, its stages, what its
// figures depend on; and what a diagnostic code or a plan key means. The step in time is
// explain_timeline.h, slow and dead ranks are explain_faults.h.
#pragma once

#include <optional>
#include <string>

#include "rankwright/catalog/glossary.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/explain/rank_view.h"
#include "rankwright/planner/explain/sensitivity_view.h"
#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

struct ExplainAnswer {
  ValidPlan plan;
  ExplainView sheet;
};
Outcome<ExplainAnswer> explain_plan(const PlanSource& plan);

struct ExplainRankAnswer {
  ValidPlan plan;
  RankView view;
};
Outcome<ExplainRankAnswer> explain_rank(const PlanSource& plan, i64 rank);

struct ExplainStagesAnswer {
  ValidPlan plan;
  StagesView view;
};
Outcome<ExplainStagesAnswer> explain_stages(const PlanSource& plan);

struct ExplainSensitivityAnswer {
  ValidPlan plan;
  SensitivityView view;
};
Outcome<ExplainSensitivityAnswer> explain_sensitivity(const PlanSource& plan);

/// Two plans, and the constants that would change which of them is faster.
struct ExplainRivalsAnswer {
  ValidPlan plan, against;
  RivalsView view;
};
Outcome<ExplainRivalsAnswer> explain_rivals(const PlanSource& plan, const SourceFile& against);

/// Which views of a plan are asked for.
struct ExplainViews {
  bool rank = false, stages = false, timeline = false, faults = false, sensitivity = false;
  bool against = false;  // of the sensitivity
};
/// Returns the refusal of more than one view, or of a view that a schedule does not have.
std::optional<Refusal> check_views(const ExplainViews& views);
std::optional<Refusal> check_schedule_views(const ExplainViews& views, const PlanSource& source);

/// The page of a diagnostic code, a plan key or a term of the glossary; one of the three.
struct ExplainWordAnswer {
  const rules::Page* page = nullptr;
  const importer::PlanKey* key = nullptr;
  const catalog::Term* term = nullptr;
};
Outcome<ExplainWordAnswer> explain_word(const std::string& word);

}  // namespace rankwright::planner
