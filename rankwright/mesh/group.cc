#include "rankwright/mesh/group.h"

#include <initializer_list>

#include "rankwright/base/check.h"

namespace rankwright::mesh {
namespace {

constexpr std::array<std::string_view, kGroupKinds> kGroupNames{
    "tp", "cp",  "dp",  "dp-cp", "shard", "replicate", "pp",
    "ep", "etp", "edp", "model", "edges", "mirror",    "world"};

/// Appends an extent to `shape`. Requires: its stride is at least the range that the others cover.
void append(GroupShape& shape, Extent extent) {
  if (extent.count == 1) return;
  if (shape.used > 0) {
    Extent& last = shape.extents[shape.used - 1u];
    if (last.stride * last.count == extent.stride) {
      last.count *= extent.count;
      return;
    }
  }
  shape.extents[shape.used++] = extent;
}

GroupShape make_shape(const Mesh& mesh, std::initializer_list<Axis> axes) {
  GroupShape shape;
  i64 stride = 1;
  for (const Axis axis : mesh.order) {
    for (const Axis wanted : axes)
      if (wanted == axis) append(shape, {stride, mesh.degree(axis)});
    stride *= mesh.degree(axis);
  }
  return shape;
}

GroupShape make_dp_cp(const Mesh& mesh) { return make_shape(mesh, {Axis::dp, Axis::cp}); }

/// A group cut into shards of consecutive members: the shape of a shard, and the shape that joins
/// the members at the same position of all shards.
struct ShardedGroup {
  GroupShape shard;
  GroupShape replicate;
};

ShardedGroup shard_group(const GroupShape& whole, i64 size) {
  ShardedGroup cut;
  for (const Extent& extent : whole) {
    const i64 inner = size < extent.count ? size : extent.count;
    RW_CHECK(divides(inner, extent.count) && divides(inner, size));
    append(cut.shard, {extent.stride, inner});
    append(cut.replicate, {extent.stride * inner, extent.count / inner});
    size /= inner;
  }
  RW_CHECK(size == 1);
  return cut;
}

}  // namespace

std::string_view name(GroupKind kind) { return kGroupNames[std::size_t(kind)]; }

i64 GroupShape::size() const {
  i64 members = 1;
  for (const Extent& extent : *this) members *= extent.count;
  return members;
}

bool valid_shard_size(const MeshPair& meshes, i64 shard_size) {
  const GroupShape whole = make_dp_cp(meshes.dense);
  if (!divides(shard_size, whole.size())) return false;
  if (whole.used < 2) return true;
  const i64 inner = whole.extents[0].count;
  return divides(shard_size, inner) || divides(inner, shard_size);
}

GroupShape make_group_shape(const MeshPair& meshes, GroupKind kind, i64 shard_size) {
  switch (kind) {
    case GroupKind::tp:
      return make_shape(meshes.dense, {Axis::tp});
    case GroupKind::cp:
      return make_shape(meshes.dense, {Axis::cp});
    case GroupKind::dp:
      return make_shape(meshes.dense, {Axis::dp});
    case GroupKind::dp_cp:
      return make_dp_cp(meshes.dense);
    case GroupKind::shard:
      RW_CHECK(valid_shard_size(meshes, shard_size));
      return shard_group(make_dp_cp(meshes.dense), shard_size).shard;
    case GroupKind::replicate:
      RW_CHECK(valid_shard_size(meshes, shard_size));
      return shard_group(make_dp_cp(meshes.dense), shard_size).replicate;
    case GroupKind::pp:
    case GroupKind::edges:
    case GroupKind::mirror:
      return make_shape(meshes.dense, {Axis::pp});
    case GroupKind::ep:
      return make_shape(meshes.expert, {Axis::ep});
    case GroupKind::etp:
      return make_shape(meshes.expert, {Axis::tp});
    case GroupKind::edp:
      return make_shape(meshes.expert, {Axis::dp});
    case GroupKind::model:
      return make_shape(meshes.dense, {Axis::tp, Axis::pp});
    case GroupKind::world:
      return make_shape(meshes.dense, {Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp});
  }
  return {};
}

i64 find_group_base(const GroupShape& shape, i64 rank) {
  i64 base = rank;
  for (const Extent& extent : shape) base -= rank / extent.stride % extent.count * extent.stride;
  return base;
}

std::vector<i64> list_group_members(const GroupShape& shape, i64 rank) {
  std::vector<i64> members;
  members.reserve(std::size_t(shape.size()));
  members.push_back(find_group_base(shape, rank));
  // Each extent repeats the members so far; strides ascend, so the members do too.
  for (const Extent& extent : shape) {
    const std::size_t made = members.size();
    for (i64 k = 1; k < extent.count; ++k)
      for (std::size_t i = 0; i < made; ++i) members.push_back(members[i] + k * extent.stride);
  }
  return members;
}

}  // namespace rankwright::mesh
