// The texts in the drawing of the cluster: above a domain, in a device, on a link; and the colors
// of devices. cluster_svg.h decides where they are placed.
#pragma once

#include <string>
#include <vector>

#include "rankwright/planner/explain/rank_map.h"

namespace rankwright::report {

/// The colors of the map's devices: by pp rank if there is a pipeline, otherwise by the first kind
/// of group.
struct DeviceColors {
  std::vector<i64> of_device{};  // one per device of the map; -1: idle
  i64 colors = 1;
  bool by_stage = false;
  std::string kind{};  // of the groups; empty if there is only one color
};
DeviceColors choose_device_colors(const plan::TrainingConfig& config, const planner::RankMap& map);

/// The texts above a domain: its name "nvlink 12"; for an innermost domain its pp ranks, "pp 0-3";
/// and "x 128" if it represents several equal domains.
struct DomainLabel {
  std::string name{}, stages{}, times{};
};
DomainLabel make_domain_label(const cluster::Cluster& cluster, const planner::MapDomain& domain,
                              const DeviceColors& colors);

/// Describes the bandwidth of a level: "450 GB/s a device, 2 : 1 oversubscribed".
std::string describe_link(const cluster::Level& level);

/// Counts, for each device of the map, how many devices of its own domain it represents.
std::vector<i64> count_in_domain(const planner::RankMap& map);

/// Describes a device: "rank 17 on device 17: tp 1 pp 2, and 127 more like it".
std::string describe_device(const plan::TrainingConfig& config, const planner::MapDevice& device);

}  // namespace rankwright::report
