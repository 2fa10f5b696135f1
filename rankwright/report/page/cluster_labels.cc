#include "rankwright/report/page/cluster_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"

namespace rankwright::report {
namespace {

/// Formats numbers as ranges: 0, 1, 2, 3 and 8 give "0-3, 8".
std::string format_ranges(std::vector<i64> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t k = 0; k < numbers.size();) {
    std::size_t end = k + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[k]);
    if (end > k + 1) text += "-" + std::to_string(numbers[end - 1]);
    k = end;
  }
  return text;
}

void count_times(const planner::RankMap& map, const planner::MapDomain& domain, i64 copies,
                 std::vector<i64>& all) {
  for (const std::size_t device : domain.devices)
    all[device] = map.devices[device].stands_for / copies;
  for (const planner::MapDomain& below : domain.domains)
    count_times(map, below, copies * below.count, all);
}

}  // namespace

DeviceColors choose_device_colors(const plan::TrainingConfig& config, const planner::RankMap& map) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  DeviceColors by{.by_stage = config.plan.pp > 1};
  if (by.by_stage)
    by.kind = "pp";
  else if (!map.groups.empty())
    by.kind = name(map.groups.front().kind);
  for (std::size_t k = 0; k < map.devices.size(); ++k) {
    const i64 rank = map.devices[k].rank;
    by.of_device.push_back(rank < 0          ? -1
                           : by.by_stage     ? mesh.coordinate(rank, mesh::Axis::pp)
                           : by.kind.empty() ? 0
                                             : map.groups.front().of_device[k]);
    by.colors = std::max(by.colors, by.of_device.back() + 1);
  }
  return by;
}

DomainLabel make_domain_label(const cluster::Cluster& cluster, const planner::MapDomain& domain,
                              const DeviceColors& colors) {
  DomainLabel label{.name = cluster.levels[std::size_t(domain.level)].name};
  if (cluster.devices() > cluster.domain(domain.level)) label.name += " " + count(domain.index);
  if (domain.count > 1) label.times = "x " + count(domain.count);
  std::vector<i64> stages;
  for (const std::size_t device : domain.devices)
    if (colors.by_stage && colors.of_device[device] >= 0)
      stages.push_back(colors.of_device[device]);
  if (!stages.empty()) label.stages = "pp " + format_ranges(std::move(stages));
  return label;
}

std::string describe_link(const cluster::Level& level) {
  std::string text = show(level.bandwidth) +
                     (level.per == cluster::Level::Per::device ? " a device" : " a domain");
  if (level.oversubscription > 1)
    text += fmt::format(", {:.3g} : 1 oversubscribed", level.oversubscription);
  return text;
}

std::vector<i64> count_in_domain(const planner::RankMap& map) {
  std::vector<i64> all(map.devices.size(), 1);
  count_times(map, map.root, 1, all);
  return all;
}

std::string describe_device(const plan::TrainingConfig& config, const planner::MapDevice& device) {
  if (device.rank < 0) return fmt::format("device {}: idle", count(device.device));
  const mesh::MeshPair meshes = config.plan.meshes();
  struct Coordinate {
    std::string_view name;
    const mesh::Mesh& mesh;
    mesh::Axis axis;
  };
  std::string text = fmt::format("rank {} on device {}", count(device.rank), count(device.device));
  std::string_view before = ":";
  for (const Coordinate& of : {Coordinate{"tp", meshes.dense, mesh::Axis::tp},
                               {"cp", meshes.dense, mesh::Axis::cp},
                               {"dp", meshes.dense, mesh::Axis::dp},
                               {"pp", meshes.dense, mesh::Axis::pp},
                               {"ep", meshes.expert, mesh::Axis::ep}}) {
    if (of.mesh.degree(of.axis) == 1) continue;
    text += fmt::format("{} {} {}", before, of.name, of.mesh.coordinate(device.rank, of.axis));
    before = "";
  }
  if (device.stands_for > 1)
    text += fmt::format(", and {} more like it", count(device.stands_for - 1));
  return text;
}

}  // namespace rankwright::report
