#include "rankwright/cost/collective.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "rankwright/base/check.h"

namespace rankwright::cost {
namespace {

/// The protocols change over where the wire takes this many times the steps (C1). Set by hand, as
/// the next: over a grid of 16 pairs the error of large messages moved by one point.
constexpr double kChange = 1.5;

/// A step between domains of the full-bandwidth protocol over the low-latency one, less 1. Inside a
/// domain it is fitted: Constant::collective_ramp.
constexpr double kOuterRamp = 3;

/// NICs of one domain that one group uses at most. A group of 144 or 1,440 on GB200 racks, 72
/// members in each, is measured at what 8 NICs of a rack give.
constexpr i64 kRails = 8;

/// Whose switches reduce, and from how many members of a domain on NCCL lets them.
struct Reducing {
  std::string_view generation;
  i64 members;
};
constexpr Reducing kReducing[] = {{"hopper", 5}, {"blackwell", 6}};

/// Devices of those generations are also sold on PCIe, which has no such switch: the least rate of
/// NVLink on a switch is 200 GB/s (H800), PCIe 6.0 has 121.
constexpr BytesPerSecond kSwitchRate = 150.0_GBps;

/// How one group lies on the levels that it crosses.
struct GroupTopology {
  struct Part {
    i64 below = 1;    // members in a domain below
    i64 domains = 1;  // such domains that are joined here
    Seconds latency{};
    double all = 0;   // seconds a byte through the link of a domain below, all members' NICs in use
    double rail = 0;  // the same with at most kRails of them
    double one = 0;   // the same for a message of one member
  };
  std::array<Part, cluster::kMaxLevels> parts{};  // by level
  int levels = 0;                                 // that are crossed
  i64 size = 1;
  std::array<i64, cluster::kMaxLevels> domains{};  // by level: that have members
  i64 reducing = 0;    // members in every domain, where its switch reduces; else 0
  double reduced = 0;  // seconds a byte that a switch reduces
  bool mpi = false;    // between CPUs: rings of MPI, one protocol (C9)
  double adds = 0;     // seconds a byte that a rank adds to its own, where no link does
};

i64 reducing(const mesh::Span& span, const cluster::Cluster& cluster) {
  if (cluster.levels[0].bandwidth < kSwitchRate) return 0;
  for (const Reducing& row : kReducing)
    if (cluster.device.generation == row.generation)
      return span.min[0] >= row.members ? span.inside[0] : 0;
  return 0;
}

/// The group has at least two members.
GroupTopology topology(const mesh::Span& span, const cluster::Cluster& cluster,
                       const cluster::Calibration& constants) {
  GroupTopology lies;
  lies.levels = span.level + 1;
  lies.size = span.size;
  i64 devices = 1;  // in a domain below
  for (int k = 0; k <= span.level; ++k) {
    const cluster::Level& level = cluster.levels[std::size_t(k)];
    GroupTopology::Part& part = lies.parts[std::size_t(k)];
    part.below = k == 0 ? 1 : span.inside[std::size_t(k) - 1];
    part.domains = ceil_div(span.inside[std::size_t(k)], part.below);
    part.latency = level.latency;
    lies.domains[std::size_t(k)] = ceil_div(span.size, span.inside[std::size_t(k)]);
    const i64 sharers = span.sharers[std::size_t(k)];
    if (sharers > 0 && part.below < span.size) {
      const double reached =
          constants[k == 0 ? cluster::Constant::link_share : cluster::Constant::nic_share];
      const double device = level.oversubscription / (reached * level.bandwidth.value);
      const bool each = level.per == cluster::Level::Per::device;
      part.all = device * double(sharers) / (each ? double(devices) : 1.0);
      const i64 here = each && k > 0 ? span.inside[0] : 1;
      part.rail = here > kRails ? part.all * double(here) / double(kRails) : part.all;
      part.one = each ? std::max(part.all, device) : part.all;
    }
    devices *= level.arity;
  }
  lies.mpi = cluster.device.cpu();
  constexpr double kAccesses = 3;  // two are read, one is written
  const double memory =
      constants[cluster::Constant::memory_share] * cluster.device.memory_bandwidth.value;
  if (lies.mpi && memory > 0) lies.adds = kAccesses / memory;
  lies.reducing = reducing(span, cluster);
  if (lies.reducing > 0)
    lies.reduced = lies.parts[0].all / constants[cluster::Constant::in_network];
  return lies;
}

/// Steps and bytes of one algorithm.
struct Way {
  bool possible = false;
  Seconds inner{};     // latency of the steps on level 0
  Seconds outer{};     // of those outside
  double factor = -1;  // seconds a byte of the call's size on the slowest link
  double added = 0;    // the same besides
  int slowest = 0;

  void steps(int level, Seconds latency) { (level == 0 ? inner : outer) += latency; }
  void link(int level, double seconds_a_byte) {
    if (seconds_a_byte <= factor) return;
    factor = seconds_a_byte;
    slowest = level;
  }
};

bool moves_shards(plan::Op op) {
  return op == plan::Op::all_reduce || op == plan::Op::all_gather || op == plan::Op::reduce_scatter;
}

/// An all-reduce is a reduce-scatter and an all-gather.
double rounds(plan::Op op) { return op == plan::Op::all_reduce ? 2 : 1; }

/// C2; between CPUs C9: what goes round passes every hop one after the other, and ranks add.
Way ring(plan::Op op, const GroupTopology& lies) {
  Way way;
  way.possible = moves_shards(op);
  if (!way.possible) return way;
  const double moved = rounds(op) * double(lies.size - 1) / double(lies.size);
  for (int k = 0; k < lies.levels; ++k) {
    const GroupTopology::Part& part = lies.parts[std::size_t(k)];
    const double rings = lies.mpi ? double(lies.domains[std::size_t(k)]) : 1;
    way.steps(k, rounds(op) * rings * double(part.domains - 1) * part.latency);
    way.link(k, moved * part.rail);
  }
  if (op != plan::Op::all_gather) way.added = double(lies.size - 1) / double(lies.size) * lies.adds;
  return way;
}

/// C3. A stage for each level that joins domains, one after another. What crosses level k passes
/// the links of the levels inside it too, spread over the members there.
Way hierarchical(plan::Op op, const GroupTopology& lies) {
  Way way;
  way.possible = moves_shards(op) && !lies.mpi;
  if (!way.possible) return way;
  double sum = 0;
  for (int k = 0; k < lies.levels; ++k) {
    const GroupTopology::Part& part = lies.parts[std::size_t(k)];
    if (part.domains < 2) continue;
    double slowest = 0;
    for (int j = 0; j <= k; ++j) {
      const GroupTopology::Part& passed = lies.parts[std::size_t(j)];
      slowest = std::max(slowest, double(passed.below) / double(part.below) * passed.rail);
    }
    const double stage = rounds(op) * double(part.domains - 1) / double(part.domains) * slowest;
    way.steps(k, rounds(op) * double(part.domains - 1) * part.latency);
    way.link(k, stage);
    sum += stage;
  }
  way.factor = sum;
  return way;
}

/// A tree between domains: down and up, two children a node, one where there are only two nodes.
void tree_outside(Way& way, const GroupTopology& lies) {
  for (int k = 1; k < lies.levels; ++k) {
    const GroupTopology::Part& part = lies.parts[std::size_t(k)];
    const int deep = std::bit_width(std::uint64_t(part.domains - 1));  // ceil(log2 domains)
    way.steps(k, 2 * deep * part.latency);
    way.link(k, (ceil_div(lies.size, part.below) == 2 ? 1 : 2) * part.rail);
  }
}

/// C4: a chain inside a domain.
Way tree(plan::Op op, const GroupTopology& lies) {
  Way way;
  way.possible = op == plan::Op::all_reduce && !lies.mpi;
  if (!way.possible) return way;
  const GroupTopology::Part& inside = lies.parts[0];
  way.steps(0, 2 * (inside.domains - 1) * inside.latency);
  way.link(0, (lies.size == 2 ? 1 : 2) * inside.rail);
  tree_outside(way, lies);
  return way;
}

/// C5: the switch of a domain reduces, so that every member sends and receives once.
Way in_network(plan::Op op, const GroupTopology& lies) {
  Way way;
  way.possible = op == plan::Op::all_reduce && lies.reducing > 0;
  if (!way.possible) return way;
  way.steps(0, (lies.reducing + 1) * lies.parts[0].latency);
  way.link(0, lies.reduced);
  tree_outside(way, lies);
  return way;
}

/// C6, C7: all messages of an all-to-all are on their way at once, each member's on its own NIC; of
/// a send at most one of each group crosses a domain's border at a time.
Way direct(plan::Op op, const GroupTopology& lies) {
  Way way;
  way.possible = op == plan::Op::all_to_all || op == plan::Op::send_recv;
  if (!way.possible) return way;
  for (int k = 0; k < lies.levels; ++k) {
    const GroupTopology::Part& part = lies.parts[std::size_t(k)];
    const double outside = double(lies.size - part.below) / double(lies.size);
    const bool steps = op == plan::Op::send_recv ? k + 1 == lies.levels : part.domains > 1;
    if (steps) way.steps(k, part.latency);
    way.link(k, op == plan::Op::send_recv ? part.one : double(part.below) * outside * part.all);
  }
  return way;
}

/// C1
CollectiveCost finish(Algorithm algorithm, const Way& way, Bytes size, const GroupTopology& lies,
                      const cluster::Calibration& constants) {
  const Seconds latency = way.inner + way.outer;
  const Seconds wire{size.value > 0 ? size.value * (way.factor + way.added) : 0};
  Seconds change{};
  if (latency.value > 0 && wire.value > 0 && !lies.mpi)
    change = (constants[cluster::Constant::collective_ramp] * way.inner + kOuterRamp * way.outer) /
             (1 + kChange * (latency / wire));
  return {.time = constants[cluster::Constant::collective_floor] * 1.0_us + latency + wire + change,
          .algorithm = algorithm,
          .latency = latency,
          .wire = wire,
          .slowest = way.slowest};
}

struct Row {
  Algorithm algorithm;
  std::string_view name;
  Way (*way)(plan::Op, const GroupTopology&);
};

constexpr Row kAlgorithmRows[] = {
    {Algorithm::none, "none", nullptr},
    {Algorithm::ring, "ring", ring},
    {Algorithm::hierarchical, "hierarchical", hierarchical},
    {Algorithm::tree, "tree", tree},
    {Algorithm::in_network, "in-network", in_network},
    {Algorithm::direct, "direct", direct},
};
static_assert(std::size(kAlgorithmRows) == kAlgorithms);

}  // namespace

std::string_view name(Algorithm algorithm) { return kAlgorithmRows[std::size_t(algorithm)].name; }

CollectiveCost collective_cost(plan::Op op, Bytes size, const mesh::Span& span,
                               const cluster::Cluster& cluster,
                               const cluster::Calibration& constants) {
  if (span.size <= 1) return {};
  const GroupTopology lies = topology(span, cluster, constants);
  CollectiveCost best;
  for (const Row& row : kAlgorithmRows) {
    if (row.way == nullptr) continue;
    const Way way = row.way(op, lies);
    if (!way.possible) continue;
    const CollectiveCost cost = finish(row.algorithm, way, size, lies, constants);
    if (best.algorithm == Algorithm::none || cost.time < best.time) best = cost;
  }
  return best;
}

std::optional<CollectiveCost> collective_cost(plan::Op op, Bytes size, const mesh::Span& span,
                                              const cluster::Cluster& cluster,
                                              const cluster::Calibration& constants,
                                              Algorithm algorithm) {
  const Row& row = kAlgorithmRows[std::size_t(algorithm)];
  if (span.size <= 1 || row.way == nullptr) return {};
  const GroupTopology lies = topology(span, cluster, constants);
  const Way way = row.way(op, lies);
  if (!way.possible) return {};
  return finish(algorithm, way, size, lies, constants);
}

Seconds collective_time(plan::Op op, Bytes size, const mesh::Span& span,
                        const cluster::Cluster& cluster, const cluster::Calibration& constants) {
  return collective_cost(op, size, span, cluster, constants).time;
}

mesh::Span innermost(const mesh::Span& span) {
  mesh::Span inner = span;
  inner.inside.fill(span.size);
  inner.min.fill(span.size);
  inner.sharers.fill(0);
  inner.sharers[0] = 1;
  inner.level = span.size > 1 ? 0 : -1;
  return inner;
}

mesh::Span shared(mesh::Span span, i64 kinds, int from) {
  RW_CHECK(kinds >= 1 && from >= 0);
  for (std::size_t k = std::size_t(from); k < cluster::kMaxLevels; ++k) span.sharers[k] *= kinds;
  return span;
}

}  // namespace rankwright::cost
