// Compares two plans: each item of the step and each entry of the memory, the keys that differ, the
// causes of the difference, and whether it exceeds the model's error.
// report/compare/compare_sentences.h describes it; cost/sensitivity.h finds the constants that
// would change the winner.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/planner/explain/key_differences.h"
#include "rankwright/planner/plan/training.h"

namespace rankwright::planner {

/// The basis of a comparison: a step if both train one model on batches of equal shape, on any
/// number of devices; else a million tokens. If the device counts differ then, it is the total time
/// of all devices per million tokens.
enum class Basis : unsigned char { step, tokens, device_tokens };
std::string_view name(Basis);   // "step", "tokens", "device_tokens"
std::string_view words(Basis);  // "per step", "per million tokens", ...

/// One item of the step in both plans.
struct TimeRow {
  cost::Item item{};
  Seconds a{}, b{};

  Seconds difference() const { return b - a; }
};

/// One entry of the memory in both plans.
struct MemoryRow {
  cost::Entry entry{};
  Bytes a{}, b{};

  Bytes difference() const { return b - a; }
};

/// An item that explains a large part of the difference, and its cause.
struct Cause {
  cost::Item item{};
  Seconds difference{};
  std::string words{};
};

/// The comparison of two plans.
struct CompareView {
  cost::Estimate a{}, b{};
  Basis basis = Basis::step;
  double within = 0;    // relative error: smaller differences are a tie (X12)
  bool paired = false;  // `within` is the error of pairs of plans, not of each plan
  std::vector<KeyDifference> keys{};
  std::vector<TimeRow>
      items{};  // that take time in either plan, on the basis, in the order of a step
  Seconds total_a{}, total_b{};              // sums of the items
  std::vector<MemoryRow> entries{};          // empty if a model is not named
  std::vector<Cause> causes{};               // the largest first
  TrainingRequest training{};                // what `run_a` and `run_b` estimate
  std::optional<Training> run_a{}, run_b{};  // empty without a number of tokens

  /// Return whether a plan may run: it fits, or is over within the error of the estimate.
  bool a_can_run() const { return a.verdict() != cost::MemoryVerdict::does_not_fit; }
  bool b_can_run() const { return b.verdict() != cost::MemoryVerdict::does_not_fit; }
  Seconds difference() const { return total_b - total_a; }
  /// Returns how much faster B is: the time of A over that of B, minus 1. Negative if B is slower.
  double lead() const { return total_a / total_b - 1; }
  /// Returns the change of the time from A to B: -0.1 if B takes 10 % less.
  double change() const { return total_b / total_a - 1; }
  /// Returns the difference relative to the shorter time, which `within` is relative to, too.
  double gap() const;
  bool tie() const { return gap() <= within; }
};

/// Returns the tokens of one step.
double tokens_per_step(const plan::TrainingConfig& config);

/// Compares two plans, which may differ in everything. Requires: configs without constraint
/// violations.
CompareView make_compare_view(const plan::TrainingConfig& a, const plan::TrainingConfig& b);

}  // namespace rankwright::planner
