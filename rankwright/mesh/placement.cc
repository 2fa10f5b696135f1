#include "rankwright/mesh/placement.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "rankwright/base/check.h"

namespace rankwright::mesh {
namespace {

/// How the groups of one shape are spread over the domains of one size.
struct DomainOccupancy {
  i64 max = 0;       // maximum number of members of one group in one domain
  i64 min = 0;       // minimum over the domains that hold any
  i64 crossing = 0;  // maximum number of groups with members both inside and outside one domain
};

/// Returns the range of ranks that the extents cover. The ranks divide into windows of this size,
/// and every group is inside one window.
i64 window(const GroupShape& shape) {
  if (shape.used == 0) return 1;
  const Extent& last = shape.extents[shape.used - 1u];
  return last.stride * last.count;
}

/// Returns the number of members that any group has in any domain that holds some, if it is a
/// single number. Ranks are devices, domains are [0, d), [d, 2d), ...; an extent of count c and
/// stride s puts into a domain
///   c      if s*c divides d: a domain is several whole windows of s*c ranks;
///   d/s    if s divides d and d divides s*c: a window is several whole domains;
///   1      if s >= d: two neighbors never share a domain.
/// Strides ascend and each is a multiple of the previous window, so every extent repeats the
/// pattern of the previous ones and the numbers multiply. In any other case the number differs
/// between groups, or only counting can show that it does not: returns nothing.
std::optional<i64> members_inside(const GroupShape& shape, i64 domain) {
  i64 members = 1;
  for (const Extent& extent : shape) {
    const auto [stride, count] = extent;
    if (stride >= domain) break;  // all later strides are larger
    if (domain % stride != 0) return std::nullopt;
    const i64 places = domain / stride;
    if (places % count != 0 && count % places != 0) return std::nullopt;
    members *= std::min(count, places);
  }
  return members;
}

constexpr i64 kNobody = -1;

/// Returns by device the index of the group whose member is placed there, or kNobody.
std::vector<i64> assign_groups(const GroupShape& shape, i64 world, const Placement& placement) {
  const bool cyclic = placement.kind == Placement::Kind::cyclic;
  i64 devices = cyclic ? placement.hosts * placement.host_devices : world;
  if (placement.kind == Placement::Kind::listed) {
    RW_CHECK(i64(placement.devices.size()) == world);
    devices = 1 + *std::max_element(placement.devices.begin(), placement.devices.end());
  }
  RW_CHECK(devices >= world);
  std::vector<i64> owner(std::size_t(devices), kNobody);
  const std::vector<i64> offsets = list_group_members(shape, 0);
  i64 group = 0;
  for (i64 rank = 0; rank < world; ++rank) {
    if (owner[std::size_t(placement.device(rank))] != kNobody) continue;
    for (const i64 offset : offsets) owner[std::size_t(placement.device(rank + offset))] = group;
    ++group;
  }
  return owner;
}

DomainOccupancy count(const std::vector<i64>& owner, i64 groups, i64 size, i64 domain) {
  DomainOccupancy occupancy{.max = 0, .min = size, .crossing = 0};
  std::vector<i64> members(std::size_t(groups), 0);  // by group, in this domain
  std::vector<i64> present;                          // groups in this domain
  for (std::size_t first = 0; first < owner.size(); first += std::size_t(domain)) {
    const std::size_t last = std::min(owner.size(), first + std::size_t(domain));
    for (std::size_t device = first; device < last; ++device)
      if (owner[device] != kNobody && members[std::size_t(owner[device])]++ == 0)
        present.push_back(owner[device]);
    i64 crossing = 0;
    for (const i64 group : present) {
      const i64 here = std::exchange(members[std::size_t(group)], 0);
      occupancy.max = std::max(occupancy.max, here);
      occupancy.min = std::min(occupancy.min, here);
      crossing += here < size ? 1 : 0;
    }
    occupancy.crossing = std::max(occupancy.crossing, crossing);
    present.clear();
  }
  return occupancy;
}

/// Counts for block placement. Strides and domain sizes are multiples of `unit`, so the ranks
/// within one unit have equally placed groups and one rank represents all. The pattern repeats
/// after the least common multiple of window and domain.
DomainOccupancy count_block(GroupShape shape, i64 world, i64 domain) {
  const i64 unit = std::gcd(shape.extents[0].stride, domain);
  const i64 covers = window(shape);
  const std::optional<i64> period = product({covers / std::gcd(covers, domain), domain});
  const i64 ranks = std::min(world, period.value_or(world)) / unit;
  for (Extent& extent : shape.extents) extent.stride /= unit;
  const i64 size = shape.size();
  DomainOccupancy occupancy =
      count(assign_groups(shape, ranks, {}), ranks / size, size, domain / unit);
  occupancy.crossing *= unit;
  return occupancy;
}

/// Computes the occupancy of one shape for domains of ascending size. The device table is built at
/// most once.
class OccupancyCounter {
 public:
  OccupancyCounter(const GroupShape& shape, i64 world, const Placement& placement)
      : shape_(shape), world_(world), size_(shape.size()), placement_(placement) {}

  DomainOccupancy on(i64 domain) {
    if (domain == 1 || size_ == 1) return {1, 1, size_ > 1 ? 1 : 0};
    if (placement_.kind == Placement::Kind::block) return on_block(domain);
    if (owner_.empty()) owner_ = assign_groups(shape_, world_, placement_);
    return count(owner_, world_ / size_, size_, domain);
  }

 private:
  DomainOccupancy on_block(i64 domain) const {
    if (domain >= world_) return {size_, size_, 0};
    if (size_ == world_) {  // one group fills every domain except perhaps the last
      const i64 rest = world_ % domain;
      return {domain, rest > 0 ? rest : domain, 1};
    }
    const std::optional<i64> inside = members_inside(shape_, domain);
    if (!inside) return count_block(shape_, world_, domain);
    return {*inside, *inside, *inside < size_ ? domain / *inside : 0};
  }

  const GroupShape& shape_;
  i64 world_;
  i64 size_;
  const Placement& placement_;
  std::vector<i64> owner_{};
};

}  // namespace

i64 Placement::device(i64 rank) const {
  switch (kind) {
    case Kind::block:
      return rank;
    case Kind::cyclic:
      return rank % hosts * host_devices + rank / hosts;
    case Kind::listed:
      return devices[std::size_t(rank)];
  }
  return rank;
}

i64 Placement::rank(i64 device) const {
  switch (kind) {
    case Kind::block:
      return device;
    case Kind::cyclic:
      return device % host_devices * hosts + device / host_devices;
    case Kind::listed: {
      const auto found = std::find(devices.begin(), devices.end(), device);
      return found == devices.end() ? kNobody : found - devices.begin();
    }
  }
  return device;
}

bool Span::uniform(std::size_t levels) const {
  return std::equal(inside.begin(), inside.begin() + std::ptrdiff_t(levels), min.begin());
}

Span span(const GroupShape& shape, i64 world, const Placement& placement,
          const cluster::Cluster& cluster) {
  const std::size_t levels = cluster.levels.size();
  RW_CHECK(levels >= 1 && levels <= cluster::kMaxLevels);
  RW_CHECK(world >= 1 && world <= cluster.devices() && world % window(shape) == 0);
  Span result;
  result.size = shape.size();
  OccupancyCounter counter(shape, world, placement);
  i64 domain = 1;
  DomainOccupancy below = counter.on(domain);
  for (std::size_t k = 0; k < levels; ++k) {
    result.sharers[k] = below.crossing;
    if (below.crossing > 0) result.level = int(k);
    domain *= cluster.levels[k].arity;
    below = counter.on(domain);
    result.inside[k] = below.max;
    result.min[k] = below.min;
  }
  return result;
}

int find_level_between(const cluster::Cluster& cluster, i64 device_a, i64 device_b) {
  int level = -1;
  for (const cluster::Level& joins : cluster.levels) {
    if (device_a == device_b) break;
    device_a /= joins.arity;
    device_b /= joins.arity;
    ++level;
  }
  RW_CHECK(device_a == device_b);
  return level;
}

}  // namespace rankwright::mesh
