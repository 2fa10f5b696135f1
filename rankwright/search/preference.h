// Which of two plans is preferred if their step times tie, and why.
#pragma once

#include <array>
#include <compare>
#include <optional>

#include "rankwright/search/candidate.h"

namespace rankwright::search {

/// A reason to prefer a plan to another, most important first.
enum class Advantage : unsigned char {
  margin,             // fits with margin
  published,          // a published run is near: its estimate is not an extrapolation
  no_full_recompute,  // full recomputation trades a quarter of the compute for memory
  fewer_cuts,         // fewer axes besides dp, which is the simplest
  no_pipeline,        // which adds a schedule and stages
  zero_stage,         // ZeRO-1 sends as much as ZeRO-0 and keeps fewer states; then 0, 2, 3
  less_recompute,     // none before selective
};
inline constexpr std::size_t kAdvantages = 7;

/// The place of a plan in the order of preference: less is preferred. One number per Advantage.
struct Preference {
  std::array<int, kAdvantages> keys{};

  friend auto operator<=>(const Preference&, const Preference&) = default;
};

/// Returns the preference for a plan. `margin`: it fits with margin.
Preference rank_preference(const plan::TrainingConfig& config, bool margin);

/// Returns why the plan with preference `a` is preferred; nothing if it is not.
std::optional<Advantage> find_advantage(const Preference& a, const Preference& b);

}  // namespace rankwright::search
