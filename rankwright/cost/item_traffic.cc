#include "rankwright/cost/item_traffic.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/catalog/catalog.h"

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

/// Returns the cluster with all levels but one infinitely fast.
cluster::Cluster keep_level(cluster::Cluster cluster, int level) {
  for (std::size_t k = 0; k < cluster.levels.size(); ++k)
    if (int(k) != level) cluster.levels[k].bandwidth = BytesPerSecond{1e300};
  return cluster;
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

std::vector<LongestTraffic> list_longest_traffic(const plan::TrainingConfig& config) {
  std::vector<LongestTraffic> rows;
  Links links(config, select_calibration(config));
  for (i64 r = 0; r < config.plan.pp; ++r)
    for (const TrafficCost& row : estimate_traffic(config, r, links)) {
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const LongestTraffic& other) {
        return other.cost.traffic.kind == row.traffic.kind;
      });
      if (same == rows.end())
        rows.push_back({row, r});
      else if (row.total > same->cost.total)
        *same = {row, r};
    }
  std::stable_sort(rows.begin(), rows.end(), [](const LongestTraffic& a, const LongestTraffic& b) {
    return a.cost.traffic.kind < b.cost.traffic.kind;
  });
  return rows;
}

// The wire time of a call is proportional to its bytes. With one level of finite bandwidth it is
// the time on that level's links, from which the bytes follow.
LinkLoad sum_link_load(const plan::TrainingConfig& config, Item item) {
  const cluster::Calibration constants = select_calibration(config);
  const i64 pp_rank = sum_item_traffic(config, item).pp_rank;
  std::vector<TrafficCost> rows = estimate_traffic(config, pp_rank);
  std::erase_if(rows, [&](const TrafficCost& row) { return find_item(row.traffic.kind) != item; });
  LinkLoad load;
  for (const TrafficCost& row : rows) load.level = std::max(load.level, row.level);
  RW_CHECK(load.level >= 0);
  const cluster::Level& level = config.cluster.levels[std::size_t(load.level)];
  const double share =
      constants[load.level == 0 ? cluster::Constant::link_share : cluster::Constant::nic_share];
  const BytesPerSecond alone = share * level.bandwidth / level.oversubscription;
  const double in_step = load.level == 0 ? 1 : constants[cluster::Constant::nic_training];
  load.reached = in_step * alone;
  const cluster::Cluster only = keep_level(config.cluster, load.level);
  for (const TrafficCost& row : rows) {
    if (row.level != load.level) continue;
    const std::optional<CollectiveCost> cost = estimate_collective_cost(
        row.traffic.op, row.traffic.total, row.span, only, constants, row.algorithm);
    if (cost) load.bytes += cost->wire * alone;
  }
  return load;
}

}  // namespace rankwright::cost
