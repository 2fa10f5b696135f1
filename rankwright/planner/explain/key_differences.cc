#include "rankwright/planner/explain/key_differences.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/export/plan_keys.h"
#include "rankwright/model/parameters.h"

namespace rankwright::planner {
namespace {

bool same_stages(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  return (a.plan.stages.empty() && b.plan.stages.empty()) || a.stages() == b.stages();
}

std::string describe_placement(const plan::TrainingConfig& s) {
  switch (s.plan.placement.kind) {
    case mesh::Placement::Kind::block:
      return "block";
    case mesh::Placement::Kind::cyclic:
      return "cyclic";
    case mesh::Placement::Kind::listed:
      break;
  }
  constexpr std::size_t kMaxListed = 8;
  const std::vector<i64>& devices = s.plan.placement.devices;
  std::string list;
  for (std::size_t r = 0; r < std::min(kMaxListed, devices.size()); ++r)
    list += (r == 0 ? "" : ", ") + std::to_string(devices[r]);
  return fmt::format("{{ranks: [{}{}]}}", list, devices.size() > kMaxListed ? ", ..." : "");
}

bool same_placement(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  // The number of hosts of a cyclic placement follows from the cluster.
  return a.plan.placement.kind == b.plan.placement.kind &&
         a.plan.placement.devices == b.plan.placement.devices;
}

std::string model_name(const plan::TrainingConfig& s) { return s.model.name; }

std::string model_details(const plan::TrainingConfig& s) {
  return fmt::format("{}: {}, hidden {}, vocabulary {}, {} parameters", s.model.name,
                     plural(s.model.layers(), "layer", "layers"), count(s.model.hidden),
                     count(s.model.vocab),
                     format_short_count(double(count_parameters(s.model).total())));
}

std::string cluster_details(const plan::TrainingConfig& s) {
  std::string text = s.cluster.device.name;
  for (const cluster::Level& level : s.cluster.levels)
    text += fmt::format(", {} of {} at {}", level.name, count(level.arity), show(level.bandwidth));
  return text;
}

/// Returns the cluster's name, or its details if the name is the "cluster" of unnamed ones.
std::string cluster_name(const plan::TrainingConfig& s) {
  return s.cluster.name == "cluster" ? cluster_details(s) : s.cluster.name;
}

/// A key that is not compared by its text: whether two configs are equal in it, a short value if
/// the file's text is long, and details if the short values are equal.
struct SpecialKey {
  std::string_view path;
  bool (*alike)(const plan::TrainingConfig&, const plan::TrainingConfig&);
  std::string (*brief)(const plan::TrainingConfig&) = nullptr;
  std::string (*details)(const plan::TrainingConfig&) = nullptr;
};
constexpr SpecialKey kSpecialKeys[] = {
    {"node_shape",
     [](const plan::TrainingConfig&, const plan::TrainingConfig&) {
       return true;
     }},  // world_size and cluster cover it
    {"parallelism.stages", same_stages},
    {"placement", same_placement, describe_placement},
    {"model",
     [](const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
       return a.model == b.model;
     },
     model_name, model_details},
    {"cluster",
     [](const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
       return a.cluster == b.cluster;
     },
     cluster_name, cluster_details},
};

SpecialKey find_special_key(std::string_view path) {
  const auto found = std::find_if(std::begin(kSpecialKeys), std::end(kSpecialKeys),
                                  [&](const SpecialKey& row) { return row.path == path; });
  return found == std::end(kSpecialKeys) ? SpecialKey{path, nullptr} : *found;
}

}  // namespace

std::vector<KeyDifference> find_key_differences(const plan::TrainingConfig& a,
                                                const plan::TrainingConfig& b) {
  std::vector<KeyDifference> all;
  for (const exporter::ConfigKey& row : exporter::config_keys()) {
    const SpecialKey as = find_special_key(row.path);
    if (as.alike != nullptr && as.alike(a, b)) continue;
    const auto value = as.brief != nullptr ? as.brief : row.value;
    KeyDifference d{.key = row.path,
                    .a = value(a),
                    .b = value(b),
                    .a_assumed = a.left_open(row.path),
                    .b_assumed = b.left_open(row.path)};
    if (as.alike == nullptr && d.a == d.b) continue;
    if (d.a == d.b && as.details != nullptr) d.a = as.details(a), d.b = as.details(b);
    if (d.a == d.b) d.b += ", but not alike";
    all.push_back(std::move(d));
  }
  return all;
}

}  // namespace rankwright::planner
