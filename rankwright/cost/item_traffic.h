// The collectives of each item of a step: how many, their bytes and where they run. Every view that
// counts the calls of an item asks here.
#pragma once

#include <array>

#include "rankwright/cost/step.h"
#include "rankwright/cost/traffic_cost.h"

namespace rankwright::cost {

/// The collectives of one item on the pp rank on which they take longest.
struct ItemTraffic {
  i64 pp_rank = 0;
  i64 calls = 0;
  Bytes bytes{};        // that the rank passes to the calls
  Seconds total{};      // of all calls, one after another
  Seconds innermost{};  // of all calls if every group were inside one innermost domain
  int level = -1;       // the level on which most of that time is spent; -1: there are no calls
};

/// Returns the traffic of each item. Requires: the config has no constraint violation.
std::array<ItemTraffic, kItems> sum_traffic_by_item(const plan::TrainingConfig& config);
/// Returns the traffic of one item.
ItemTraffic sum_item_traffic(const plan::TrainingConfig& config, Item item);

}  // namespace rankwright::cost
