// Checks the MPI transport under mpirun: compares every call with plain arithmetic that each rank
// does for itself. Prints only faults.
//
//     mpirun -n 4 mpi_check                   all calls, and the groups of a plan on 8 ranks
//     mpirun -n 4 mpi_check --leave=HOW       one rank leaves (abort, exit, kill): all must end
#include <signal.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "rankwright/base/check.h"
#include "rankwright/runtime/members.h"
#include "rankwright/runtime/world.h"

namespace rankwright::runtime {
namespace {

constexpr Number kNumbers[] = {Number::f64, Number::f32, Number::bf16, Number::i64};
constexpr i64 kCounts[] = {0, 1, 2, 3, 5, 7, 1000, 140003};  // fewer than ranks, uneven, long
constexpr plan::TrafficKind kKind = plan::TrafficKind::dp_all_reduce;

/// Counts and prints failed expectations.
struct Checks {
  const World& world;
  int faults = 0;

  void expect(bool holds, const char* what, i64 a = 0, i64 b = 0) {
    if (holds) return;
    ++faults;
    std::fprintf(stderr, "rank %lld: %s (%lld, %lld)\n", (long long)world.rank(), what,
                 (long long)a, (long long)b);
  }
};

/// Elements of any type, accessed as doubles.
class Buffer {
 public:
  Buffer(Number number, i64 count)
      : number_(number), count_(count), bytes_(std::size_t(count * size(number) + 8)) {}

  Slab slab() { return {bytes_.data(), count_, number_}; }

  template <class T>
  T raw(i64 i) const {
    T element;
    std::memcpy(&element, bytes_.data() + i * i64(sizeof(T)), sizeof(T));
    return element;
  }
  template <class T>
  void put(i64 i, T element) {
    std::memcpy(bytes_.data() + i * i64(sizeof(T)), &element, sizeof(T));
  }

  double at(i64 i) const {
    if (number_ == Number::f64) return raw<double>(i);
    if (number_ == Number::f32) return raw<float>(i);
    if (number_ == Number::i64) return double(raw<i64>(i));
    return std::bit_cast<float>(std::uint32_t(raw<std::uint16_t>(i)) << 16);
  }
  /// Requires: the element type can represent `value`.
  void set(i64 i, double value) {
    if (number_ == Number::f64) return put(i, value);
    if (number_ == Number::f32) return put(i, float(value));
    if (number_ == Number::i64) return put(i, i64(value));
    put(i, std::uint16_t(std::bit_cast<std::uint32_t>(float(value)) >> 16));
  }

 private:
  Number number_;
  i64 count_;
  std::vector<unsigned char> bytes_;
};

/// Returns a small integer: sums of 23 of them are exact even in bf16, in any order.
double value(i64 rank, i64 i) { return double((rank * 7 + i * 3) % 23 - 11); }

double sum(i64 ranks, i64 i) {
  double total = 0;
  for (i64 rank = 0; rank < ranks; ++rank) total += value(rank, i);
  return total;
}

double largest(i64 ranks, i64 i) {
  double max = value(0, i);
  for (i64 rank = 1; rank < ranks; ++rank) max = std::max(max, value(rank, i));
  return max;
}

Buffer filled(Number number, i64 count, i64 rank) {
  Buffer buffer(number, count);
  for (i64 i = 0; i < count; ++i) buffer.set(i, value(rank, i));
  return buffer;
}

/// Returns a buffer with correct values in this rank's own part and wrong ones elsewhere.
Buffer part_filled(Number number, i64 count, Part mine) {
  Buffer buffer(number, count);
  for (i64 i = 0; i < count; ++i)
    buffer.set(i, i >= mine.first && i < mine.first + mine.count ? value(0, i) : 100);
  return buffer;
}

void check_all_reduce(Checks& checks, const Group& group) {
  for (const Number number : kNumbers)
    for (const i64 count : kCounts) {
      Buffer added = filled(number, count, group.rank());
      Buffer max = added;
      group.all_reduce(kKind, added.slab());
      group.all_reduce(kKind, max.slab(), Combine::max);
      for (i64 i = 0; i < count; ++i) {
        checks.expect(added.at(i) == sum(group.size(), i), "all-reduce, sum", i64(number), i);
        checks.expect(max.at(i) == largest(group.size(), i), "all-reduce, max", i64(number), i);
      }
    }
}

void check_all_gather(Checks& checks, const Group& group) {
  for (const Number number : kNumbers)
    for (const i64 count : kCounts) {
      Buffer whole = part_filled(number, count, group.part(count));
      group.all_gather(plan::TrafficKind::dp_all_gather, whole.slab());
      for (i64 i = 0; i < count; ++i)
        checks.expect(whole.at(i) == value(0, i), "all-gather", i64(number), i);
    }
}

void check_reduce_scatter(Checks& checks, const Group& group) {
  for (const Number number : kNumbers)
    for (const i64 count : kCounts) {
      const Part mine = group.part(count);
      Buffer whole = filled(number, count, group.rank());
      Buffer part(number, mine.count);
      group.reduce_scatter(plan::TrafficKind::dp_reduce_scatter, whole.slab(), part.slab());
      for (i64 i = 0; i < mine.count; ++i)
        checks.expect(part.at(i) == sum(group.size(), mine.first + i), "reduce-scatter",
                      i64(number), i);
      for (i64 i = 0; i < count; ++i)
        checks.expect(whole.at(i) == value(group.rank(), i), "reduce-scatter's input", count, i);
    }
}

/// bf16 has 8 significant bits: its spacing is 2^-7 from 1 on and 2 from 256 on. The other ranks
/// add zeros, so there is one rounding in any order.
void check_rounding(Checks& checks, const Group& group) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kLargest = 0x1.fep127;
  constexpr double kCases[][3] = {
      {1, 0x1p-8, 1},                     // half a step: rounds to even, down
      {1 + 0x1p-7, 0x1p-8, 1 + 0x1p-6},   // half a step: rounds to even, up
      {1, 0x1p-8 + 0x1p-15, 1 + 0x1p-7},  // more than half a step
      {1, 0x1p-9, 1},                     // less than half a step
      {256, 1, 256},
      {258, 1, 260},  // half a step, with integers
      {-256, -1, -256},
      {-258, -1, -260},  //
      {1, -1, 0},
      {3, 4, 7},                        // exact
      {kLargest, kLargest, kInfinity},  //
      {kInfinity, 1, kInfinity},
  };
  constexpr i64 kCount = i64(std::size(kCases));
  Buffer buffer(Number::bf16, kCount + 1);
  for (i64 i = 0; i < kCount; ++i) buffer.set(i, group.rank() < 2 ? kCases[i][group.rank()] : 0);
  buffer.put(kCount, std::uint16_t(group.rank() == 0 ? 0x7f81 : 0));  // a NaN with low bits only
  group.all_reduce(kKind, buffer.slab());
  for (i64 i = 0; i < kCount; ++i)
    checks.expect(buffer.at(i) == kCases[i][2], "rounding of bf16, case", i);
  checks.expect(std::isnan(buffer.at(kCount)), "NaN of bf16 is lost");
}

/// Sends messages around the ring, posted in one order and received in another, short and long.
void check_messages(Checks& checks, const Group& group) {
  constexpr i64 kTags[] = {5, 0, 9, 3};
  constexpr i64 kReceived[] = {9, 3, 5, 0};
  const i64 next = (group.rank() + 1) % group.size();
  const i64 before = (group.rank() + group.size() - 1) % group.size();
  const auto count = [](i64 tag) { return tag == 3 ? i64{300000} : 10 * tag; };
  std::vector<Buffer> sent, received;
  std::vector<Pending> pending;
  for (const i64 tag : kTags) sent.push_back(filled(Number::f32, count(tag), group.rank() + tag));
  for (const i64 tag : kReceived) received.emplace_back(Number::f32, count(tag));
  for (std::size_t i = 0; i < std::size(kTags); ++i)
    pending.push_back(
        group.start_send(plan::TrafficKind::pp_forward, sent[i].slab(), next, kTags[i]));
  for (std::size_t i = 0; i < std::size(kReceived); ++i)
    pending.push_back(
        group.start_recv(plan::TrafficKind::pp_forward, received[i].slab(), before, kReceived[i]));
  for (Pending& one : pending) one.wait();
  for (std::size_t m = 0; m < received.size(); ++m)
    for (i64 i = 0; i < count(kReceived[m]); ++i)
      checks.expect(received[m].at(i) == value(before + kReceived[m], i), "message, tag",
                    kReceived[m], i);
}

/// Starts six calls of three kinds before waiting for any, and ends them in reverse order.
void check_many_pending(Checks& checks, const Group& group) {
  constexpr i64 kCount = 50001;
  const Part mine = group.part(kCount);
  std::vector<Buffer> reduced(4, filled(Number::f32, kCount, group.rank()));
  Buffer gathered = part_filled(Number::f64, kCount, mine);
  Buffer whole = filled(Number::bf16, kCount, group.rank());
  Buffer part(Number::bf16, mine.count);
  std::vector<Pending> pending;
  for (Buffer& buffer : reduced) pending.push_back(group.start_all_reduce(kKind, buffer.slab()));
  pending.push_back(group.start_all_gather(plan::TrafficKind::dp_all_gather, gathered.slab()));
  pending.push_back(
      group.start_reduce_scatter(plan::TrafficKind::dp_reduce_scatter, whole.slab(), part.slab()));
  while (!pending.back().done()) continue;
  checks.expect(!pending.back(), "what is done is still pending");
  while (!pending.empty()) pending.pop_back();  // the destructor waits
  for (i64 i = 0; i < kCount; ++i) {
    for (const Buffer& buffer : reduced)
      checks.expect(buffer.at(i) == sum(group.size(), i), "one of many all-reduces", i);
    checks.expect(gathered.at(i) == value(0, i), "all-gather beside others", i);
  }
  for (i64 i = 0; i < mine.count; ++i)
    checks.expect(part.at(i) == sum(group.size(), mine.first + i), "reduce-scatter beside others");
}

/// Calls and bytes count the whole tensor; a receive is not counted, and waiting takes time.
void check_counters(Checks& checks, const Group& group, Counters& counters) {
  counters.clear();
  Buffer buffer(Number::bf16, 1001);
  Buffer other(Number::bf16, 1001);
  Buffer part(Number::bf16, group.part(1001).count);
  group.all_reduce(kKind, buffer.slab());
  group.start_all_reduce(kKind, buffer.slab()).wait();
  group.all_gather(plan::TrafficKind::dp_all_gather, buffer.slab());
  group.reduce_scatter(plan::TrafficKind::dp_reduce_scatter, buffer.slab(), part.slab());
  Pending sent = group.start_send(plan::TrafficKind::pp_forward, buffer.slab(), group.rank(), 1);
  group.start_recv(plan::TrafficKind::pp_backward, other.slab(), group.rank(), 1).wait();
  sent.wait();
  using K = plan::TrafficKind;
  const plan::Traffic expected[] = {
      {K::pp_forward, plan::Op::send_recv, mesh::GroupKind::dp, 1, Bytes{2002}},
      {K::dp_all_reduce, plan::Op::all_reduce, mesh::GroupKind::dp, 2, Bytes{4004}},
      {K::dp_reduce_scatter, plan::Op::reduce_scatter, mesh::GroupKind::dp, 1, Bytes{2002}},
      {K::dp_all_gather, plan::Op::all_gather, mesh::GroupKind::dp, 1, Bytes{2002}},
  };
  const std::vector<TrafficCount> rows = counters.rows();
  checks.expect(rows.size() == std::size(expected), "rows counted", i64(rows.size()));
  for (std::size_t i = 0; i < std::min(rows.size(), std::size(expected)); ++i) {
    checks.expect(rows[i].traffic == expected[i], "counted row", i64(i));
    checks.expect(rows[i].waited > Seconds{0}, "no time was waited for row", i64(i));
  }
  checks.expect(counters.waited(K::pp_backward) > Seconds{0}, "a receive waits, too");
}

plan::TrainingConfig config_of(plan::Plan plan) {
  plan::TrainingConfig config{.model = {}, .cluster = {}, .job = {}, .plan = std::move(plan)};
  config.world = config.plan.ranks();
  config.cluster.levels.push_back({.name = "host", .arity = 4});
  config.cluster.levels.push_back({.name = "network", .arity = ceil_div(config.world, 4)});
  return config;
}

struct Expected {
  mesh::GroupKind kind;
  std::vector<i64> members;
};

/// Checks that the group has these ranks in this order: each writes its number at its index.
void check_groups(Checks& checks, const plan::TrainingConfig& config,
                  const std::vector<Expected>& all) {
  for (const auto& [kind, members] : all) {
    const Result<Group> group = checks.world.group(config, kind, *find_backend("mpi"), nullptr);
    checks.expect(group.has_value(), "no group of kind", i64(kind));
    if (!group) continue;
    checks.expect(group->size() == i64(members.size()), "size of group", i64(kind), group->size());
    checks.expect(members == runtime::members(config.plan, kind, checks.world.rank()),
                  "members of kind", i64(kind));
    Buffer ranks(Number::i64, group->size());
    ranks.set(group->rank(), double(checks.world.rank()));
    group->all_gather(kKind, ranks.slab());
    for (i64 i = 0; i < std::min(group->size(), i64(members.size())); ++i)
      checks.expect(ranks.at(i) == double(members[std::size_t(i)]), "member of kind", i64(kind), i);
  }
}

/// tp 2 x dp 2 x pp 2: rank = tp + 2 dp + 4 pp. Then dp 2 x pp 4: rank = dp + 2 pp.
void check_plans(Checks& checks) {
  using K = mesh::GroupKind;
  const i64 me = checks.world.rank();
  const std::vector<i64> everybody{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<i64> tp{me / 2 * 2, me / 2 * 2 + 1};
  const std::vector<i64> dp{me / 4 * 4 + me % 2, me / 4 * 4 + me % 2 + 2};
  const std::vector<i64> pp{me % 4, me % 4 + 4};
  const i64 column = me / 2 % 2 * 2;
  check_groups(checks, config_of({.tp = 2, .dp = 2, .pp = 2, .etp = 2}),
               {{K::tp, tp},
                {K::cp, {me}},
                {K::dp, dp},
                {K::dp_cp, dp},
                {K::shard, dp},
                {K::replicate, {me}},
                {K::pp, pp},
                {K::edges, pp},
                {K::mirror, pp},
                {K::model, {column, column + 1, column + 4, column + 5}},
                {K::world, everybody}});
  const i64 row = me % 2, stage = me / 2;
  const std::vector<i64> ends{row, row + 6};
  const std::vector<i64> middle{row + 2, row + 4};
  const bool end = stage == 0 || stage == 3;
  check_groups(checks, config_of({.dp = 2, .pp = 4}),
               {{K::pp, {row, row + 2, row + 4, row + 6}},
                {K::edges, end ? ends : std::vector<i64>{me}},
                {K::mirror, end ? ends : middle}});
}

/// Checks the communication outside the plan.
void check_world(Checks& checks) {
  const World& world = checks.world;
  const double n = double(world.size());
  std::vector<double> values{double(world.rank()), 1};
  world.sum(values);
  checks.expect(values == std::vector<double>{n * (n - 1) / 2, n}, "sum over the world");
  values = {double(world.rank()), -double(world.rank())};
  world.max(values);
  checks.expect(values == std::vector<double>{n - 1, 0}, "max over the world");

  // Rank r gives r values of r: 1 2 2 3 3 3 ...
  const std::vector<double> mine(std::size_t(world.rank()), double(world.rank()));
  std::vector<double> all;
  for (i64 rank = 0; rank < world.size() && world.rank() == 0; ++rank)
    all.insert(all.end(), std::size_t(rank), double(rank));
  checks.expect(world.gather(mine) == all, "gather to rank 0");

  std::string text = world.rank() == 0 ? "a longer text" : "x";
  world.broadcast(text);
  checks.expect(text == "a longer text", "broadcast from rank 0");
  world.barrier();
  checks.expect(!world.host().empty(), "no host name");
  checks.expect(world.host_rank() == world.rank(), "number on the one host", world.host_rank());
  const Result<Group> wrong =
      world.group(config_of({.dp = 64}), mesh::GroupKind::dp, *find_backend("mpi"), nullptr);
  checks.expect(!wrong && wrong.error().code == "RW0702", "a plan of another size is taken");
}

int check(const World& world) {
  Checks checks{world};
  check_world(checks);
  if (world.size() == 8) {
    check_plans(checks);
    return checks.faults == 0 ? 0 : 1;
  }
  Counters counters;
  const Result<Group> group = world.group(config_of({.dp = world.size()}), mesh::GroupKind::dp,
                                          *find_backend("mpi"), &counters);
  RW_CHECK(group.has_value());
  check_all_reduce(checks, *group);
  check_all_gather(checks, *group);
  check_reduce_scatter(checks, *group);
  if (group->size() > 1) {
    check_rounding(checks, *group);
    check_messages(checks, *group);
    check_many_pending(checks, *group);
    check_counters(checks, *group, counters);
  }
  return checks.faults == 0 ? 0 : 1;
}

/// Makes the last rank leave while the others wait for it.
void leave(const World& world, const std::string& how) {
  world.barrier();
  if (world.rank() == world.size() - 1) {
    if (how == "--leave=abort") world.abort(3);
    if (how == "--leave=kill") raise(SIGKILL);
    std::exit(3);
  }
  world.barrier();
}

}  // namespace
}  // namespace rankwright::runtime

int main(int count, char** arguments) {
  namespace runtime = rankwright::runtime;
  const rankwright::Result<std::unique_ptr<runtime::World>> world = runtime::World::start();
  if (!world) {
    std::fprintf(stderr, "%s: %s\n", world.error().message.c_str(), world.error().detail.c_str());
    return 1;
  }
  if (count > 1) runtime::leave(**world, arguments[1]);
  return runtime::check(**world);
}
