#include "rankwright/mesh/group.h"

#include <initializer_list>

#include "rankwright/base/check.h"

namespace rankwright::mesh {
namespace {

constexpr std::array<std::string_view, kGroupKinds> kGroupNames{
    "tp", "cp",  "dp",  "dp-cp", "shard", "replicate", "pp",
    "ep", "etp", "edp", "model", "edges", "mirror",    "world"};

/// Behind the extents that `shape` has already: `stride` is no less than what they cover.
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

GroupShape along(const Mesh& mesh, std::initializer_list<Axis> axes) {
  GroupShape shape;
  i64 stride = 1;
  for (const Axis axis : mesh.order) {
    for (const Axis wanted : axes)
      if (wanted == axis) append(shape, {stride, mesh.degree(axis)});
    stride *= mesh.degree(axis);
  }
  return shape;
}

GroupShape dp_cp(const Mesh& mesh) { return along(mesh, {Axis::dp, Axis::cp}); }

/// The members of `whole` in rank order, cut after every `size`: one piece, and what joins equal
/// places of all pieces.
struct Halves {
  GroupShape shard;
  GroupShape replicate;
};

Halves halves(const GroupShape& whole, i64 size) {
  Halves cut;
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
  const GroupShape whole = dp_cp(meshes.dense);
  if (!divides(shard_size, whole.size())) return false;
  if (whole.used < 2) return true;
  const i64 inner = whole.extents[0].count;
  return divides(shard_size, inner) || divides(inner, shard_size);
}

GroupShape group_shape(const MeshPair& meshes, GroupKind kind, i64 shard_size) {
  switch (kind) {
    case GroupKind::tp:
      return along(meshes.dense, {Axis::tp});
    case GroupKind::cp:
      return along(meshes.dense, {Axis::cp});
    case GroupKind::dp:
      return along(meshes.dense, {Axis::dp});
    case GroupKind::dp_cp:
      return dp_cp(meshes.dense);
    case GroupKind::shard:
      RW_CHECK(valid_shard_size(meshes, shard_size));
      return halves(dp_cp(meshes.dense), shard_size).shard;
    case GroupKind::replicate:
      RW_CHECK(valid_shard_size(meshes, shard_size));
      return halves(dp_cp(meshes.dense), shard_size).replicate;
    case GroupKind::pp:
    case GroupKind::edges:
    case GroupKind::mirror:
      return along(meshes.dense, {Axis::pp});
    case GroupKind::ep:
      return along(meshes.expert, {Axis::ep});
    case GroupKind::etp:
      return along(meshes.expert, {Axis::tp});
    case GroupKind::edp:
      return along(meshes.expert, {Axis::dp});
    case GroupKind::model:
      return along(meshes.dense, {Axis::tp, Axis::pp});
    case GroupKind::world:
      return along(meshes.dense, {Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp});
  }
  return {};
}

i64 group_base(const GroupShape& shape, i64 rank) {
  i64 base = rank;
  for (const Extent& extent : shape) base -= rank / extent.stride % extent.count * extent.stride;
  return base;
}

std::vector<i64> group_members(const GroupShape& shape, i64 rank) {
  std::vector<i64> members;
  members.reserve(std::size_t(shape.size()));
  members.push_back(group_base(shape, rank));
  // Each extent repeats what the ones before it made; strides ascend, so the members do too.
  for (const Extent& extent : shape) {
    const std::size_t made = members.size();
    for (i64 k = 1; k < extent.count; ++k)
      for (std::size_t i = 0; i < made; ++i) members.push_back(members[i] + k * extent.stride);
  }
  return members;
}

}  // namespace rankwright::mesh
