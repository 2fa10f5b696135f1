// Placement: which device each rank sits on, and so which levels of the cluster a group spans and
// how many groups share a link. Only the sizes of the cluster's domains are needed, so this folder
// knows no bandwidths.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/group.h"

namespace rankwright::mesh {

struct Placement {
  enum class Kind : std::uint8_t {
    block,   // rank r on device r: hosts are filled one after another
    cyclic,  // rank r on host r mod hosts: what `srun --distribution=cyclic` does
    listed,  // as `devices` says
  };
  Kind kind = Kind::block;
  i64 host_devices = 1;        // cyclic: devices a host
  i64 hosts = 1;               // cyclic: hosts * host_devices is at least the world
  std::vector<i64> devices{};  // listed: device of each rank, no device twice

  i64 device(i64 rank) const;
  i64 rank(i64 device) const;  // the inverse; -1 for a listed placement's idle devices

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// How the groups of one kind lie on the cluster's levels.
struct Span {
  /// The most members that one domain of each level holds, over all groups and domains; of the last
  /// level: the whole group. inside[0] = 8 means: a group has 8 members in one NVLink domain.
  std::array<i64, cluster::kMaxLevels> inside{};
  /// The fewest members that a domain which holds any holds. Less than `inside` when groups lie
  /// across boundaries unevenly (tp 16 in domains of 72).
  std::array<i64, cluster::kMaxLevels> min{};
  /// The most groups that cross the link of one domain of the level below (device, for level 0):
  /// they have members in it and elsewhere under or above this level.
  std::array<i64, cluster::kMaxLevels> sharers{};
  /// The outermost level whose links any group crosses; -1 for groups of one.
  int level = -1;
  i64 size = 1;  // members of a group

  /// All groups lie alike at every level.
  bool uniform(std::size_t levels) const;

  friend bool operator==(const Span&, const Span&) = default;
};

/// Over all groups of `shape` on `world` ranks, of which the cluster has at least as many devices.
/// Without allocation, and in time that grows only with the levels, for block placement wherever
/// the boundaries of a level's domains are boundaries of the mesh too (always so for powers of
/// two); else it counts, in time and memory that grow with the world: who reads a world from
/// outside bounds it.
Span span(const GroupShape& shape, i64 world, const Placement& placement,
          const cluster::Cluster& cluster);

/// The outermost level whose links lie between two devices of the cluster: -1 for the same device,
/// 0 inside one innermost domain.
int level_between(const cluster::Cluster& cluster, i64 device_a, i64 device_b);

}  // namespace rankwright::mesh
