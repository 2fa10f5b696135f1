#include "rankwright/cost/collective.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "rankwright/base/check.h"

namespace rankwright::cost {
namespace {

/// The protocols switch where the wire time is this many times the latency (C1). Set by hand, like
/// kOuterRamp: over a grid of 16 pairs of the two, the error of large messages moved by one point.
constexpr double kCrossover = 1.5;

/// The latency of a step between domains in the full-bandwidth protocol relative to the low-latency
/// one, minus 1. Inside a domain the value is fitted: Constant::collective_ramp.
constexpr double kOuterRamp = 3;

/// The maximum number of NICs per domain that one group uses. Groups of 144 and 1,440 on GB200
/// racks, with 72 members in each rack, were measured at the bandwidth of 8 NICs per rack.
constexpr i64 kRails = 8;

/// A device generation whose switches reduce in the network, and the number of members per domain
/// from which NCCL uses that.
struct ReducingSwitch {
  std::string_view generation;
  i64 min_members;
};
constexpr ReducingSwitch kReducingSwitches[] = {{"hopper", 5}, {"blackwell", 6}};

/// Devices of those generations are also sold with PCIe, which has no such switch. The slowest
/// NVLink on a switch has 200 GB/s (H800); PCIe 6.0 has 121.
constexpr BytesPerSecond kMinSwitchRate = 150.0_GBps;

/// Returns a / b, rounded up. Counts of members fit into 32 bits, where a division takes a fraction
/// of the time. Requires: a >= 0, b >= 1.
i64 divide_up(i64 a, i64 b) {
  constexpr i64 kSmall = std::numeric_limits<std::uint32_t>::max();
  if (a > kSmall || b > kSmall) return ceil_div(a, b);
  const std::uint32_t n = std::uint32_t(a), d = std::uint32_t(b);
  return i64{n / d} + (n % d > 0 ? 1 : 0);
}

/// The distribution of one group over the network levels that it crosses.
struct GroupTopology {
  struct Part {   // without initializers: only the levels that the group crosses are filled in
    i64 below;    // members per domain of the level below
    i64 domains;  // domains of the level below that are joined here
    Seconds latency;
    double all;    // seconds per byte on the link of a domain below, using all members' NICs
    double rail;   // seconds per byte, using at most kRails NICs
    double one;    // seconds per byte for a message of one member
    double nic;    // seconds per byte on the NIC of one member; 0 if members share a link
    i64 fewest;    // members in the domain of the level below that has fewest
    i64 occupied;  // domains of this level that have members
  };
  std::array<Part, cluster::kMaxLevels> parts;  // by level, of those that the group crosses
  int levels = 0;                               // number of levels crossed
  i64 size = 1;
  i64 reducing = 0;    // members per domain if its switch reduces; else 0
  double reduced = 0;  // seconds per byte reduced by a switch
  bool mpi = false;    // between CPUs: MPI rings with a single protocol (C9)
  double adds = 0;     // seconds per byte that a rank adds to its own, between CPUs
  double meeting = 1;  // slow-down of NICs where messages of many senders meet
};

/// Returns the members per domain if the switches of the cluster reduce for this group, else 0.
i64 count_reducing_members(const mesh::Span& span, const cluster::Cluster& cluster) {
  if (cluster.levels[0].bandwidth < kMinSwitchRate) return 0;
  for (const ReducingSwitch& row : kReducingSwitches)
    if (cluster.device.generation == row.generation)
      return span.min[0] >= row.min_members ? span.inside[0] : 0;
  return 0;
}

/// Requires: the group has at least two members.
GroupTopology find_topology(const mesh::Span& span, const cluster::Cluster& cluster,
                            const cluster::Calibration& constants) {
  GroupTopology topology;
  topology.levels = span.level + 1;
  topology.size = span.size;
  i64 devices = 1;  // per domain of the level below
  for (int k = 0; k <= span.level; ++k) {
    const cluster::Level& level = cluster.levels[std::size_t(k)];
    GroupTopology::Part& part = topology.parts[std::size_t(k)];
    part.below = k == 0 ? 1 : span.inside[std::size_t(k) - 1];
    part.fewest = k == 0 ? 1 : std::max<i64>(1, span.min[std::size_t(k) - 1]);
    part.domains = divide_up(span.inside[std::size_t(k)], part.below);
    part.latency = level.latency;
    part.occupied = divide_up(span.size, span.inside[std::size_t(k)]);
    part.all = part.rail = part.one = part.nic = 0;
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
      part.nic = each ? device : 0;
    }
    devices *= level.arity;
  }
  topology.mpi = cluster.device.cpu();
  topology.meeting = 1 / constants[cluster::Constant::nic_all_to_all];
  constexpr double kAccesses = 3;  // two reads, one write
  const double memory =
      constants[cluster::Constant::memory_share] * cluster.device.memory_bandwidth.value;
  if (topology.mpi && memory > 0) topology.adds = kAccesses / memory;
  topology.reducing = count_reducing_members(span, cluster);
  if (topology.reducing > 0)
    topology.reduced = topology.parts[0].all / constants[cluster::Constant::in_network];
  return topology;
}

/// Latency and seconds per byte of one algorithm.
struct CostTerms {
  bool possible = false;
  Seconds inner{};     // latency of the steps on level 0
  Seconds outer{};     // latency of the steps on the levels outside
  double factor = -1;  // seconds per byte of the call's size on the slowest link
  double added = 0;    // seconds per byte outside links
  int slowest = 0;     // level of the slowest link

  void add_latency(int level, Seconds latency) { (level == 0 ? inner : outer) += latency; }
  void add_link(int level, double seconds_per_byte) {
    if (seconds_per_byte <= factor) return;
    factor = seconds_per_byte;
    slowest = level;
  }
};

bool moves_shards(plan::Op op) {
  return op == plan::Op::all_reduce || op == plan::Op::all_gather || op == plan::Op::reduce_scatter;
}

/// Returns 2 for an all-reduce (a reduce-scatter and an all-gather), else 1.
double rounds(plan::Op op) { return op == plan::Op::all_reduce ? 2 : 1; }

/// C2; between CPUs C9: the data passes all hops one after the other, and ranks do the additions.
CostTerms ring(plan::Op op, const GroupTopology& topology) {
  CostTerms terms;
  terms.possible = moves_shards(op);
  if (!terms.possible) return terms;
  const double moved = rounds(op) * double(topology.size - 1) / double(topology.size);
  for (int k = 0; k < topology.levels; ++k) {
    const GroupTopology::Part& part = topology.parts[std::size_t(k)];
    const double rings = topology.mpi ? double(part.occupied) : 1;
    terms.add_latency(k, rounds(op) * rings * double(part.domains - 1) * part.latency);
    terms.add_link(k, moved * part.rail);
  }
  if (op != plan::Op::all_gather)
    terms.added = double(topology.size - 1) / double(topology.size) * topology.adds;
  return terms;
}

/// C3: one stage per level that joins domains, one after another. Data that crosses level k also
/// passes the links of the levels inside it, spread over the members there.
CostTerms hierarchical(plan::Op op, const GroupTopology& topology) {
  CostTerms terms;
  terms.possible = moves_shards(op) && !topology.mpi;
  if (!terms.possible) return terms;
  double sum = 0;
  for (int k = 0; k < topology.levels; ++k) {
    const GroupTopology::Part& part = topology.parts[std::size_t(k)];
    if (part.domains < 2) continue;
    double slowest = 0;
    for (int j = 0; j <= k; ++j) {
      const GroupTopology::Part& passed = topology.parts[std::size_t(j)];
      slowest = std::max(slowest, double(passed.below) / double(part.below) * passed.rail);
    }
    const double stage = rounds(op) * double(part.domains - 1) / double(part.domains) * slowest;
    terms.add_latency(k, rounds(op) * double(part.domains - 1) * part.latency);
    terms.add_link(k, stage);
    sum += stage;
  }
  terms.factor = sum;
  return terms;
}

/// Adds a tree between domains, traversed down and up, with two children per node (one if there are
/// only two nodes).
void tree_outside(CostTerms& terms, const GroupTopology& topology) {
  for (int k = 1; k < topology.levels; ++k) {
    const GroupTopology::Part& part = topology.parts[std::size_t(k)];
    const int deep = std::bit_width(std::uint64_t(part.domains - 1));  // ceil(log2 domains)
    terms.add_latency(k, 2 * deep * part.latency);
    terms.add_link(k, (divide_up(topology.size, part.below) == 2 ? 1 : 2) * part.rail);
  }
}

/// C4: a chain inside each domain and a tree between domains.
CostTerms tree(plan::Op op, const GroupTopology& topology) {
  CostTerms terms;
  terms.possible = op == plan::Op::all_reduce && !topology.mpi;
  if (!terms.possible) return terms;
  const GroupTopology::Part& inside = topology.parts[0];
  terms.add_latency(0, 2 * (inside.domains - 1) * inside.latency);
  terms.add_link(0, (topology.size == 2 ? 1 : 2) * inside.rail);
  tree_outside(terms, topology);
  return terms;
}

/// C5: the switch of a domain reduces, so every member sends and receives once.
CostTerms in_network(plan::Op op, const GroupTopology& topology) {
  CostTerms terms;
  terms.possible = op == plan::Op::all_reduce && topology.reducing > 0;
  if (!terms.possible) return terms;
  terms.add_latency(0, (topology.reducing + 1) * topology.parts[0].latency);
  terms.add_link(0, topology.reduced);
  tree_outside(terms, topology);
  return terms;
}

/// C6, C7: all messages of an all-to-all are in flight at once, each member's on its own NIC. With
/// sends, at most one message per group crosses a domain boundary at a time.
CostTerms direct(plan::Op op, const GroupTopology& topology) {
  CostTerms terms;
  terms.possible = op == plan::Op::all_to_all || op == plan::Op::send_recv;
  if (!terms.possible) return terms;
  for (int k = 0; k < topology.levels; ++k) {
    const GroupTopology::Part& part = topology.parts[std::size_t(k)];
    const double outside = double(topology.size - part.below) / double(topology.size);
    const bool steps = op == plan::Op::send_recv ? k + 1 == topology.levels : part.domains > 1;
    if (steps) terms.add_latency(k, part.latency);
    if (op == plan::Op::send_recv) {
      terms.add_link(k, part.one);
      continue;
    }
    // A member with few others in its domain sends most of its buffer through its own NIC.
    const double farthest = double(topology.size - part.fewest) / double(topology.size);
    const double slower = k > 0 ? topology.meeting : 1;
    terms.add_link(k,
                   slower * std::max(double(part.below) * outside * part.all, farthest * part.nic));
  }
  return terms;
}

/// Combines the terms of an algorithm into a time (C1).
CollectiveCost finish(Algorithm algorithm, const CostTerms& terms, Bytes size,
                      const GroupTopology& topology, const cluster::Calibration& constants) {
  const Seconds latency = terms.inner + terms.outer;
  const Seconds wire{size.value > 0 ? size.value * (terms.factor + terms.added) : 0};
  Seconds transition{};
  if (latency.value > 0 && wire.value > 0 && !topology.mpi)
    transition =
        (constants[cluster::Constant::collective_ramp] * terms.inner + kOuterRamp * terms.outer) /
        (1 + kCrossover * (latency / wire));
  return {
      .time = constants[cluster::Constant::collective_floor] * 1.0_us + latency + wire + transition,
      .algorithm = algorithm,
      .latency = latency,
      .wire = wire,
      .slowest = terms.slowest};
}

struct Row {
  Algorithm algorithm;
  std::string_view name;
  CostTerms (*terms)(plan::Op, const GroupTopology&);
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

CollectiveCost estimate_collective_cost(plan::Op op, Bytes size, const mesh::Span& span,
                                        const cluster::Cluster& cluster,
                                        const cluster::Calibration& constants) {
  if (span.size <= 1) return {};
  const GroupTopology topology = find_topology(span, cluster, constants);
  CollectiveCost best;
  for (const Row& row : kAlgorithmRows) {
    if (row.terms == nullptr) continue;
    // On one level it takes the time of a ring.
    if (row.algorithm == Algorithm::hierarchical && topology.levels == 1) continue;
    const CostTerms terms = row.terms(op, topology);
    if (!terms.possible) continue;
    const CollectiveCost cost = finish(row.algorithm, terms, size, topology, constants);
    if (best.algorithm == Algorithm::none || cost.time < best.time) best = cost;
  }
  return best;
}

std::optional<CollectiveCost> estimate_collective_cost(plan::Op op, Bytes size,
                                                       const mesh::Span& span,
                                                       const cluster::Cluster& cluster,
                                                       const cluster::Calibration& constants,
                                                       Algorithm algorithm) {
  const Row& row = kAlgorithmRows[std::size_t(algorithm)];
  if (span.size <= 1 || row.terms == nullptr) return {};
  const GroupTopology topology = find_topology(span, cluster, constants);
  const CostTerms terms = row.terms(op, topology);
  if (!terms.possible) return {};
  return finish(algorithm, terms, size, topology, constants);
}

Seconds estimate_collective_time(plan::Op op, Bytes size, const mesh::Span& span,
                                 const cluster::Cluster& cluster,
                                 const cluster::Calibration& constants) {
  return estimate_collective_cost(op, size, span, cluster, constants).time;
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
