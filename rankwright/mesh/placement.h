// Placement: the device of each rank, and thereby the levels of the cluster that a group spans and
// how many groups share a link. Only the sizes of domains matter here, not bandwidths.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/group.h"

namespace rankwright::mesh {

/// An assignment of ranks to devices.
struct Placement {
  enum class Kind : std::uint8_t {
    block,   // rank r on device r: fills one host after another
    cyclic,  // rank r on host r mod hosts, as `srun --distribution=cyclic`
    listed,  // explicit list in `devices`
  };
  Kind kind = Kind::block;
  i64 host_devices = 1;        // cyclic: devices per host
  i64 hosts = 1;               // cyclic: hosts * host_devices is at least the world size
  std::vector<i64> devices{};  // listed: device of each rank, without duplicates

  i64 device(i64 rank) const;
  i64 rank(i64 device) const;  // the inverse; -1 for a device without a rank in a listed placement

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// How the groups of one kind are spread over the cluster's levels.
struct Span {
  /// Maximum number of a group's members in one domain of each level, over all groups and domains;
  /// at the last level, the group size. inside[0] = 8: a group has 8 members in one NVLink domain.
  std::array<i64, cluster::kMaxLevels> inside{};
  /// Minimum number of members over the domains that hold any. Less than `inside` if groups
  /// straddle domain boundaries unevenly (tp 16 in domains of 72).
  std::array<i64, cluster::kMaxLevels> min{};
  /// Maximum number of groups that share the link of one domain of the level below (of a device,
  /// for level 0): they have members both inside and outside that domain.
  std::array<i64, cluster::kMaxLevels> sharers{};
  /// The outermost level whose links any group crosses; -1 for groups of one rank.
  int level = -1;
  i64 size = 1;  // ranks per group

  /// Returns whether all groups are spread evenly at every level.
  bool uniform(std::size_t levels) const;

  friend bool operator==(const Span&, const Span&) = default;
};

/// Computes the span of all groups of `shape` on `world` ranks. Requires: the cluster has at least
/// `world` devices. For block placement whose domain boundaries align with the mesh (always for
/// powers of two), it does not allocate and takes time proportional to the number of levels.
/// Otherwise it counts, with time and memory proportional to `world`, so a world size read from
/// input must be bounded.
Span span(const GroupShape& shape, i64 world, const Placement& placement,
          const cluster::Cluster& cluster);

/// Returns the outermost level between two devices of the cluster: -1 for the same device, 0 inside
/// one innermost domain.
int find_level_between(const cluster::Cluster& cluster, i64 device_a, i64 device_b);

}  // namespace rankwright::mesh
