#include "rankwright/search/preference.h"

#include <algorithm>

#include "rankwright/cost/bands/layout_distance.h"

namespace rankwright::search {

Preference rank_preference(const plan::TrainingConfig& config, bool margin) {
  constexpr int kZeroOrder[] = {1, 0, 2, 3};  // place of ZeRO stage 0, 1, 2 and 3
  const Family f = find_family(config.plan);
  return {{!margin, !cost::near_validated(config), f.recompute == plan::Recompute::full, f.cuts(),
           f.pp > 1, kZeroOrder[f.zero], int(f.recompute)}};
}

std::optional<Advantage> find_advantage(const Preference& a, const Preference& b) {
  if (a >= b) return std::nullopt;
  return Advantage(std::ranges::mismatch(a.keys, b.keys).in1 - a.keys.begin());
}

}  // namespace rankwright::search
