// Everything that `plan` found, in one place: the answer, why not otherwise, what else it could
// cost. Data only: plan_text.h and plan_json.h lay it out, plan_words.h has the sentences.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankwright/report/training.h"
#include "rankwright/search/answer.h"
#include "rankwright/search/trade.h"
#include "rankwright/search/why_not.h"

namespace rankwright {

/// A framework, and which of its rules the plan breaks: those that are no mere notes.
struct TargetVerdict {
  const TargetRow* target = nullptr;
  std::vector<const Rule*> broken{};
};
std::vector<TargetVerdict> target_verdicts(const Setup& setup);

/// The plan of the file that was given.
struct OwnPlan {
  std::string name{};
  Setup setup;
  std::optional<Priced> priced{};  // nothing where it cannot be
};

/// What was done about hosts that are out.
struct HostsOut {
  i64 count = 0;
  std::vector<i64> listed{};  // which; empty where only their number is known
  i64 left = 0;               // hosts
  i64 used = 0;
  i64 counts_tried = 0;    // numbers of hosts that a layout exists for
  bool cut_short = false;  // more might have been tried
  /// Where no layout has all that are left: what their degrees break, most first, and how often.
  std::vector<std::pair<Misfit::Why, i64>> broken{};
};

struct PlanView {
  Problem problem;
  Answer answer{};
  std::vector<Neighbour> neighbours{};
  std::vector<TradePoint> trade{};
  std::optional<OwnPlan> own{};
  TrainingAsk training{};
  std::optional<HostsOut> out{};
  std::optional<CountRow> fewest{};  // --fit, or where nothing fits: on how many it would
  bool fit_asked = false;
  bool stopped = false;  // by the user, somewhere
  std::string file{};    // that the plan was written to

  const Priced& best() const { return *answer.best; }
};

/// A plan that is written next to the figures that it was chosen for, and to what a search that was
/// stopped had looked at; `stopped` is empty where it was complete.
std::string plan_file_text(const Priced& plan, const std::string& command,
                           const std::string& stopped);

}  // namespace rankwright
