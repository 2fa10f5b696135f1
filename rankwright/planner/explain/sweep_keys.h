// The settings that `explain --sweep` varies, one row each: how a value is applied to a plan, what
// stays fixed meanwhile, and what the sweep is about. Also reads the text of a sweep:
// "microbatches=1..64". sweep_view.h estimates the plans.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/plan/draft.h"
#include "rankwright/mesh/group.h"
#include "rankwright/planner/input/outcome.h"

namespace rankwright::planner {

/// The figure that a sweep draws as bars.
enum class SweepBar : unsigned char { bubble, step, memory };

/// One setting that can be swept.
struct SweepKey {
  std::string_view name;  // as typed: "microbatches"
  std::string_view also;  // the plan-file key, which can be typed too; empty if there is none
  std::string_view head;  // heading of its column: "micro-batches"
  std::string_view before, one, many;  // around a value: "TP " 8, 1 " micro-batch"
  std::string_view range;              // swept if only the name is typed
  i64 min = 1, max = 1;
  SweepBar bar = SweepBar::step;
  bool timeline = false;                   // drawn as timelines; otherwise as bars
  std::optional<mesh::GroupKind> group{};  // the group whose link the sweep shows
  i64 (*read)(const plan::TrainingConfig&) = nullptr;
  /// Sets the value in a draft that states world size, dp, micro-batch, batch and sequence.
  void (*apply)(importer::Draft&, i64) = nullptr;
  bool moves_dp = false;       // dp is what the other degrees leave of the world size
  std::string_view instead{};  // for a key that changes the job: a related one that does not
  std::string_view changes{};  // a sentence after a blank: " DP takes the rest of the GPUs."
  /// Names of the values from 0, for a setting that is not a number; null for one that is.
  std::span<const std::string_view> (*names)() = nullptr;
};
std::span<const SweepKey> list_sweep_keys();

/// Returns the row of a name or plan-file key, in any case and with - or _; null if there is none.
const SweepKey* find_sweep_key(std::string_view name);

/// Returns a value without its name: "8", "1,024", "full".
std::string format_bare_value(const SweepKey& key, i64 value);

/// Returns a value with its name: "TP 8", "16 micro-batches", "ZeRO-3", "full recomputation".
std::string format_sweep_value(const SweepKey& key, i64 value);

/// A setting and its values, ascending and distinct.
struct Sweep {
  const SweepKey* key = nullptr;
  std::vector<i64> values{};
};
inline constexpr std::size_t kMaxSweepValues = 64;

/// Reads "KEY=RANGE", or "KEY" for its usual range. A range is a list of values and spans: "1..64"
/// has both ends and the powers of two between them, "2..10:2" every second value. Refuses unknown
/// keys, values that the key cannot have, and more than kMaxSweepValues values.
Outcome<Sweep> read_sweep(const std::string& text);

/// Returns the plan with another value of the key. It is `config` itself for the value that it has;
/// else what reading `draft` gives with that value, and with the world size, the micro-batch, the
/// global batch and the sequence of `config` unless the key changes them. May have violations.
plan::TrainingConfig apply_sweep_value(const plan::TrainingConfig& config,
                                       const importer::Draft& draft, const SweepKey& key,
                                       i64 value);

}  // namespace rankwright::planner
