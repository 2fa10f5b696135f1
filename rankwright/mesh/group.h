// Groups: the ranks that take part in one collective together. A group is described by its extents
// (strides and counts), which are the same for all groups of one kind, so nothing here grows with
// the number of ranks until somebody asks for the list of members.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/mesh/mesh.h"

namespace rankwright::mesh {

/// Which ranks talk. dp_cp reduces dense gradients; shard and replicate are its two halves under
/// hybrid sharding (shard inner). etp, ep and edp live on the expert mesh. model = tp x pp. edges
/// are the first and the last rank of a pp group, which share tied embeddings; mirror are two ranks
/// of it that hold the same stages, equally far from its ends. Both are described as that group.
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

/// `count` ranks, `stride` apart.
struct Extent {
  i64 stride = 1;
  i64 count = 1;

  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// Extents by ascending stride; each stride is a multiple of what the extent before it covers
/// (stride * count). An extent that begins where the one before it ends is merged with it, and one
/// of count 1 is left out, so two shapes are equal if and only if their groups are. A small value:
/// no allocation, because a search makes millions.
struct GroupShape {
  std::array<Extent, kAxes> extents{};
  std::uint8_t used = 0;

  i64 size() const;
  const Extent* begin() const { return extents.data(); }
  const Extent* end() const { return extents.data() + used; }

  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

/// Whether the dp_cp groups can be cut into shards of `shard_size` neighbours that all have one
/// shape: it divides the innermost extent, or is a multiple of it that divides the group.
bool valid_shard_size(const MeshPair& meshes, i64 shard_size);

/// The shape of every group of `kind`. A valid `shard_size` splits dp_cp into shard (that many
/// neighbours, in rank order) and replicate; the other kinds do not look at it.
GroupShape group_shape(const MeshPair& meshes, GroupKind kind, i64 shard_size);

/// The lowest rank of the group of this shape that `rank` is in.
i64 group_base(const GroupShape& shape, i64 rank);

/// The members of the group that `rank` is in, ascending.
std::vector<i64> group_members(const GroupShape& shape, i64 rank);

}  // namespace rankwright::mesh
