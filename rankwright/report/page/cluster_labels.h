// What is written in a drawing of the cluster: above a domain, in a device, on a link; and what
// devices are coloured by. Words and numbers only: where they stand is cluster_svg.h.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/explain/rank_map.h"

namespace rankwright::report {

/// By pp rank, else by the first kind of group that there is.
struct DeviceColors {
  std::vector<i64> of_device{};  // of the map; -1: idle
  i64 colors = 1;
  bool by_stage = false;
  std::string kind{};  // of groups; empty where there is nothing to tell apart
};
DeviceColors device_colors(const plan::TrainingConfig& config, const planner::RankMap& map);

/// Above a domain: "nvlink 12", "pp 0-3" of an innermost one, "x 128" where it stands for more.
struct DomainLabel {
  std::string name{}, stages{}, times{};
};
DomainLabel domain_label(const cluster::Cluster& cluster, const planner::MapDomain& domain,
                         const DeviceColors& colors);

/// "450 GB/s a device, 2 : 1 oversubscribed".
std::string describe_link(const cluster::Level& level);

/// By device of the map: how often it stands in its own domain.
std::vector<i64> times_in_domain(const planner::RankMap& map);

/// "rank 17 on device 17: tp 1 pp 2, and 127 more like it".
std::string describe_device(const plan::TrainingConfig& config, const planner::MapDevice& device);

}  // namespace rankwright::report
