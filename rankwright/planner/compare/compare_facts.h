// Facts about an item of a plan's step that may explain why another plan's differs: one row an
// item. Which of them do is compare_causes.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/compare/compare_causes.h"

namespace rankwright::planner {

/// "on " "nvlink" "", "" "32" " microbatches". Rows list the same ones, in the same order, of every
/// plan that has the item; one without a value is not there.
struct Fact {
  std::string before, value, after;

  std::string text() const { return before + value + after; }
};
using Facts = std::vector<Fact>;

/// A plan, and of the collectives that the item waits for the one whose time differs most.
struct FactSubject {
  const Compared& plan;
  cost::Item item;
  const CommunicationRow* collective = nullptr;

  const plan::TrainingConfig& config() const { return plan.config; }
  const cost::StepTime& step() const { return plan.sheet.estimate.step; }
  double tokens() const {
    return double(config().job.global_batch) * double(config().job.sequence);
  }
  /// So many things a step, or for a million tokens.
  std::string often(i64 n) const;
};

struct CauseRow {
  cost::Item item;
  Facts (*facts)(const FactSubject&);  // of a plan in which the item takes time
  bool follows = false;                // it is a share of the others
};
const CauseRow& cause_row(cost::Item item);

}  // namespace rankwright::planner
