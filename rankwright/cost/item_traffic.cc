#include "rankwright/cost/item_traffic.h"

#include <algorithm>
#include <vector>

namespace rankwright::cost {
namespace {

/// Returns the traffic of each item on one pp rank.
std::array<ItemTraffic, kItems> sum_on_rank(const plan::TrainingConfig& config, i64 pp_rank,
                                            Links& links) {
  std::array<ItemTraffic, kItems> sums{};
  std::array<std::vector<Seconds>, kItems> by_level{};
  for (std::vector<Seconds>& of_item : by_level) of_item.resize(config.cluster.levels.size());
  for (const TrafficCost& row : estimate_traffic(config, pp_rank, links)) {
    const std::size_t item = std::size_t(find_item(row.traffic.kind));
    ItemTraffic& sum = sums[item];
    sum.pp_rank = pp_rank;
    sum.calls += row.traffic.calls;
    sum.bytes += row.traffic.total;
    sum.total += row.total;
    sum.innermost += row.innermost;
    if (row.level >= 0) by_level[item][std::size_t(row.level)] += row.total;
  }
  for (std::size_t item = 0; item < kItems; ++item) {
    const std::vector<Seconds>& times = by_level[item];
    const auto longest = std::max_element(times.begin(), times.end());
    if (longest != times.end() && *longest > Seconds{})
      sums[item].level = int(longest - times.begin());
  }
  return sums;
}

}  // namespace

std::array<ItemTraffic, kItems> sum_traffic_by_item(const plan::TrainingConfig& config) {
  Links links(config, select_calibration(config));
  std::array<ItemTraffic, kItems> all{};
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const std::array<ItemTraffic, kItems> here = sum_on_rank(config, r, links);
    for (std::size_t item = 0; item < kItems; ++item)
      if (here[item].total > all[item].total) all[item] = here[item];
  }
  return all;
}

ItemTraffic sum_item_traffic(const plan::TrainingConfig& config, Item item) {
  return sum_traffic_by_item(config)[std::size_t(item)];
}

}  // namespace rankwright::cost
