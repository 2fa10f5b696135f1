#include "rankwright/runtime/members.h"

#include <algorithm>

namespace rankwright::runtime {

std::vector<i64> members(const plan::Plan& plan, mesh::GroupKind kind, i64 rank) {
  const mesh::MeshPair meshes = plan.meshes();
  std::vector<i64> all = list_group_members(make_group_shape(meshes, kind, plan.shards()), rank);
  if (kind != mesh::GroupKind::edges && kind != mesh::GroupKind::mirror) return all;

  const i64 place = meshes.dense.coordinate(rank, mesh::Axis::pp);
  const i64 other = i64(all.size()) - 1 - place;
  const bool between = kind == mesh::GroupKind::edges && place != 0 && other != 0;
  if (place == other || between) return {rank};
  return {all[std::size_t(std::min(place, other))], all[std::size_t(std::max(place, other))]};
}

int find_level_across(const plan::TrainingConfig& config, const std::vector<i64>& members) {
  // Domains are nested, so the outermost level is between the first member and some other.
  const mesh::Placement& placement = config.plan.placement;
  int outermost = -1;
  for (const i64 member : members)
    outermost = std::max(outermost,
                         mesh::find_level_between(config.cluster, placement.device(members.front()),
                                                  placement.device(member)));
  return outermost;
}

}  // namespace rankwright::runtime
