// The collectives of a step by item and by kind, on the pp rank on which they take longest: how
// many, their bytes, where they run, and the bytes on one link. Every view that counts calls asks
// here.
#pragma once

#include <array>
#include <vector>

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

/// One kind of collective on the pp rank on which it takes longest.
struct LongestTraffic {
  TrafficCost cost;
  i64 pp_rank = 0;
};

/// Returns one row per kind of collective, in the order of the kinds. Requires: the config has no
/// constraint violation.
std::vector<LongestTraffic> list_longest_traffic(const plan::TrainingConfig& config);

/// The load of one link by the collectives of an item that cross its level: of a device's NIC if
/// each device has one, else of the link that the devices of a domain share.
struct LinkLoad {
  int level = -1;
  Bytes bytes{};             // per step, of all groups that share the link
  BytesPerSecond reached{};  // bandwidth that the link reaches during training (X2)

  Seconds time() const { return bytes / reached; }
};

/// Returns the load of a link of the outermost level that the item crosses, on the pp rank on which
/// the item takes longest. Requires: the item has calls, none of them expert-parallel (their
/// dispatcher may send fewer bytes), and the config has no constraint violation.
LinkLoad sum_link_load(const plan::TrainingConfig& config, Item item);

}  // namespace rankwright::cost
