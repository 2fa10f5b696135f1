// Decides what to do about a plan, given the search for the same job: change to the best plan
// found, benchmark it, keep the plan, or use more GPUs. Data only; report/page/advice_sentences.h
// states it in words.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rankwright/planner/explain/key_differences.h"
#include "rankwright/planner/plan/plan_answer.h"

namespace rankwright::planner {

/// The next step for the user.
struct Advice {
  enum class Kind : unsigned char {
    change,     // a better plan was found
    benchmark,  // the best plan found is within the margin of error
    keep,       // nothing better was found
    grow,       // nothing fits: more GPUs are needed
    inform,     // the file lacks a model, or nothing was searched
  };
  Kind kind = Kind::inform;
  std::optional<search::EvaluatedPlan> plan{};  // the plan to change to, if any
  std::vector<KeyDifference> changes{};         // plan keys, from the plan to that one
  /// The frameworks that run the advised plan, or the plan itself if it is kept: only the target of
  /// the search if that does.
  std::vector<const rules::TargetRow*> frameworks{};
  std::optional<Training> run{};  // of the whole training with `plan`, if its tokens are known
};
/// Returns the name of a kind: "change", ...
std::string_view name(Advice::Kind kind);

/// Decides what to do about `own`, given the search for its job.
Advice advise(const search::EvaluatedPlan& own, const PlanAnswer& search,
              const TrainingRequest& training);

/// How a plan compares with what the search for its job found.
struct Rivals {
  const search::EvaluatedPlan* best = nullptr;     // what the search would run; null if none fits
  const search::EvaluatedPlan* fastest = nullptr;  // null if none fits
  double slowdown = 0;  // of the plan relative to the fastest, as a fraction
  bool chosen = false;  // the plan is what the search would run
};
Rivals find_rivals(const search::EvaluatedPlan& own, const search::Answer& found);

}  // namespace rankwright::planner
