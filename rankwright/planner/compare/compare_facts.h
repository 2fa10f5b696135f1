// Facts about an item of a plan's step that may explain why another plan's item differs, one row
// per item. compare_causes.h selects the facts that do.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/compare/compare_causes.h"

namespace rankwright::planner {

/// One fact: {"on ", "nvlink", ""} or {"", "32", " microbatches"}. A row lists the same facts, in
/// the same order, for every plan that has the item. A fact without a value does not apply.
struct Fact {
  std::string before, value, after;
  bool only_if_unlike = false;  // not worth a word if both plans have the same value

  std::string text() const { return before + value + after; }
};
using Facts = std::vector<Fact>;

/// A plan, an item, and the collective of the item whose time differs most.
struct FactContext {
  const ComparedPlan& plan;
  cost::Item item;
  const CommunicationRow* collective = nullptr;

  const plan::TrainingConfig& config() const { return plan.config; }
  const cost::StepTime& step() const { return plan.explain_view.estimate.step; }
  double tokens() const {
    return double(config().job.global_batch) * double(config().job.sequence);
  }
  /// Returns `n` events per step, scaled to the basis of the comparison.
  std::string scale_count(i64 n) const;
};

/// The facts of one item.
struct CauseRow {
  cost::Item item;
  Facts (*facts)(const FactContext&);  // requires: the item takes time in the plan
  bool follows = false;                // the item is a share of the others
};

/// Returns the row of the item.
const CauseRow& find_cause_row(cost::Item item);

}  // namespace rankwright::planner
