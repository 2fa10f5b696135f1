// Two plans side by side: what each item of the step and each entry of the memory is in both, which
// keys differ, what explains the difference, and whether it is more than the model's error. How it
// is said is report/compare/compare_sentences.h. Which constants would change the winner is
// cost/sensitivity.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/cost/estimate.h"
#include "rankwright/planner/compare/key_differences.h"

namespace rankwright::planner {

/// What is compared. Steps where both train the same tokens; else a million tokens, and where the
/// devices are not as many, the time of all devices together.
enum class Basis : unsigned char { step, tokens, device_tokens };
std::string_view name(Basis);   // "step", "tokens", "device_tokens"
std::string_view words(Basis);  // "a step", "a million tokens", ...

struct TimeRow {
  cost::Item item{};
  Seconds a{}, b{};

  Seconds difference() const { return b - a; }
};

struct MemoryRow {
  cost::Entry entry{};
  Bytes a{}, b{};

  Bytes difference() const { return b - a; }
};

/// An item that explains much of the difference, and what is behind it.
struct Cause {
  cost::Item item{};
  Seconds difference{};
  std::string words{};
};

struct CompareView {
  cost::Estimate a{}, b{};
  Basis basis = Basis::step;
  double within = 0;    // X12: they tie up to this
  bool paired = false;  // it is of pairs of plans, not of each
  std::vector<KeyDifference> keys{};
  std::vector<TimeRow> items{};  // that take time in either, on the basis, in the order of a step
  Seconds total_a{}, total_b{};  // of the items
  std::vector<MemoryRow> entries{};  // empty where a model is not named
  std::vector<Cause> causes{};       // the largest first

  Seconds difference() const { return total_b - total_a; }
  /// Time of A over that of B, less 1: how much faster B is, negative where it is slower.
  double lead() const { return total_a / total_b - 1; }
  /// The same for the faster of the two.
  double gap() const;
  bool tie() const { return gap() <= within; }
};

/// Tokens of one step.
double tokens_per_step(const plan::TrainingConfig& config);

/// Requires: neither config has a violation; they may differ in everything.
CompareView compare_view(const plan::TrainingConfig& a, const plan::TrainingConfig& b);

}  // namespace rankwright::planner
