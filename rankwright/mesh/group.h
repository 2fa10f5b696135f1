// Groups: the ranks that take part in one collective. A group is described by its extents (strides
// and counts), which are the same for all groups of one kind, so cost does not grow with the number
// of ranks unless the list of members is requested.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/mesh/mesh.h"

namespace rankwright::mesh {

/// The communication groups. dp_cp reduces dense gradients; with hybrid sharding it factors into
/// shard (inner) and replicate. etp, ep and edp are groups of the expert mesh. model = tp x pp.
/// edges are the first and the last rank of a pp group, which share tied embeddings; mirror are two
/// ranks of a pp group that hold the same stages, equally far from its ends. The shape of edges and
/// mirror is that of the whole pp group.
enum class GroupKind : std::uint8_t {
  tp,
  cp,
  dp,
  dp_cp,
  shard,
  replicate,
  pp,
  ep,
  etp,
  edp,
  model,
  edges,
  mirror,
  world
};
inline constexpr std::size_t kGroupKinds = 14;

std::string_view name(GroupKind);  // "dp-cp"

/// `count` ranks at a distance of `stride`.
struct Extent {
  i64 stride = 1;
  i64 count = 1;

  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// The shape of a group: extents by ascending stride, each stride a multiple of the range that the
/// previous extent covers (stride * count). Contiguous extents are merged and those of count 1
/// omitted, so two shapes are equal if and only if their groups are. Does not allocate, because a
/// search makes millions.
struct GroupShape {
  std::array<Extent, kAxes> extents{};
  std::uint8_t used = 0;

  i64 size() const;
  const Extent* begin() const { return extents.data(); }
  const Extent* end() const { return extents.data() + used; }

  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

/// Returns whether the dp_cp groups can be divided into shards of `shard_size` neighbors that all
/// have the same shape: it divides the innermost extent, or is a multiple of it that divides the
/// group.
bool valid_shard_size(const MeshPair& meshes, i64 shard_size);

/// Returns the shape of every group of `kind`. `shard_size` matters only for shard (that many
/// neighbors of dp_cp, in rank order) and replicate. Requires: valid_shard_size() for these two
/// kinds.
GroupShape make_group_shape(const MeshPair& meshes, GroupKind kind, i64 shard_size);

/// Returns the lowest rank of the group of this shape that contains `rank`.
i64 find_group_base(const GroupShape& shape, i64 rank);

/// Returns the members of the group that contains `rank`, in ascending order.
std::vector<i64> list_group_members(const GroupShape& shape, i64 rank);

}  // namespace rankwright::mesh
