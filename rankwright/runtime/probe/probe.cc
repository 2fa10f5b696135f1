#include "rankwright/runtime/probe/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/runtime/probe/probe_compute.h"

namespace rankwright::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long one figure may take.
struct Pace {
  double batch;  // seconds of calls in a row: many scheduler periods, as a run has
  int repeats;
  double max;  // seconds of a figure: no larger message is tried when it would take longer
};
constexpr Pace kPace{0.08, 5, 5}, kQuickPace{0.02, 3, 0.5};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Seconds of one `work`: calls in a row, median over repeats of the slowest rank. Collective.
Seconds timed(const World& world, const Pace& pace, const Work& work) {
  work();  // connections and memory are made once
  world.barrier();
  const Clock::time_point first = Clock::now();
  work();
  std::vector<double> once{seconds_since(first)};
  world.max(once);
  constexpr double kMaxCalls = 5000;
  const i64 calls = i64(std::clamp(std::ceil(pace.batch / once[0]), 1.0, kMaxCalls));
  std::vector<double> times;
  for (int i = 0; i < pace.repeats; ++i) {
    world.barrier();
    const Clock::time_point begin = Clock::now();
    for (i64 k = 0; k < calls; ++k) work();
    times.push_back(seconds_since(begin) / double(calls));
  }
  world.max(times);
  std::nth_element(times.begin(), times.begin() + pace.repeats / 2, times.end());
  return {std::max(times[std::size_t(pace.repeats / 2)], 1e-9)};
}

/// The names of all ranks' hosts, by rank. Collective.
std::vector<std::string> host_names(const World& world) {
  const std::string own = world.host();
  std::vector<double> letters(own.begin(), own.end());
  letters.push_back('\n');
  std::string all;
  for (const double letter : world.gather(letters)) all += char(letter);
  world.broadcast(all);
  std::vector<std::string> names;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  RW_CHECK(i64(names.size()) == world.size());
  return names;
}

/// The value behind "key : value" in a file of /proc.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t begin =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return {};
}

/// Where the ranks stand, as lists of ranks by host.
struct Places {
  std::vector<std::vector<i64>> by_host{};
  i64 own_host = 0, own_place = 0;

  std::vector<i64> members(fit::ProbeGroup group) const {
    std::vector<i64> all;
    for (const std::vector<i64>& host : by_host) {
      if (group == fit::ProbeGroup::rails) all.push_back(host[std::size_t(own_place)]);
      if (group == fit::ProbeGroup::world) all.insert(all.end(), host.begin(), host.end());
    }
    return group == fit::ProbeGroup::host ? by_host[std::size_t(own_host)] : all;
  }
};

Places find_places(const World& world, fit::ProbeFigures& probe) {
  Places places;
  const std::vector<std::string> names = host_names(world);
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const auto at = std::find(probe.hosts.begin(), probe.hosts.end(), names[rank]);
    const std::size_t host = std::size_t(at - probe.hosts.begin());
    if (at == probe.hosts.end()) {
      probe.hosts.push_back(names[rank]);
      places.by_host.emplace_back();
    }
    if (i64(rank) == world.rank()) {
      places.own_host = i64(host);
      places.own_place = i64(places.by_host[host].size());
    }
    places.by_host[host].push_back(i64(rank));
  }
  for (const std::vector<i64>& host : places.by_host) probe.host_ranks.push_back(i64(host.size()));
  return places;
}

void describe(fit::ProbeFigures& probe) {
  probe.processor = proc_value("/proc/cpuinfo", "model name");
  probe.vendor = proc_value("/proc/cpuinfo", "vendor_id");
  constexpr double kKiB = 1024;
  double total = 0;
  std::istringstream(proc_value("/proc/meminfo", "MemTotal")) >> total;
  probe.memory = {std::max(1.0, total) * kKiB};
}

struct Shape {
  Number number;
  std::string_view name;
  i64 rows, inner, columns;
  bool quick;  // measured by a quick probe, too
};
// Rows are the tokens of a microbatch. Other formats follow from one shape.
constexpr Shape kShapes[] = {
    {Number::f32, "fp32", 128, 256, 256, false},    {Number::f32, "fp32", 256, 256, 256, true},
    {Number::f32, "fp32", 512, 256, 256, false},    {Number::f32, "fp32", 1024, 256, 256, false},
    {Number::f32, "fp32", 256, 256, 1024, false},   {Number::f32, "fp32", 256, 1024, 256, false},
    {Number::f32, "fp32", 256, 1024, 1024, false},  {Number::f32, "fp32", 512, 512, 512, true},
    {Number::f32, "fp32", 1024, 1024, 1024, false}, {Number::f64, "fp64", 512, 512, 512, false},
    {Number::bf16, "bf16", 256, 256, 256, false},
};

/// One after the other: what ranks compute while all of them do.
class Prober {
 public:
  Prober(const World& world, const Backend& backend, const ProbeOptions& options)
      : world_(world),
        backend_(backend),
        options_(options),
        pace_(options.quick ? kQuickPace : kPace) {}

  Result<fit::ProbeFigures> run() {
    places_ = find_places(world_, probe_);
    if (const std::optional<Diagnostic> unequal = unequal_hosts(probe_)) return fail(*unequal);
    describe(probe_);
    compute();
    memory();
    const bool several = places_.by_host.size() > 1, shared = places_.by_host[0].size() > 1;
    if (shared)
      if (const Result<void> done = calls(fit::ProbeGroup::host); !done) return fail(done.error());
    if (several)
      if (const Result<void> done = calls(fit::ProbeGroup::world); !done) return fail(done.error());
    if (several && shared)
      if (const Result<void> done = calls(fit::ProbeGroup::rails); !done) return fail(done.error());
    return probe_;
  }

 private:
  void say(const std::string& what) const {
    if (world_.rank() == 0) options_.said(what);
  }

  void compute() {
    for (const Shape& shape : kShapes) {
      if (options_.quick && !shape.quick) continue;
      say(fmt::format("matmul {} {} x {} x {}", shape.name, shape.rows, shape.inner,
                      shape.columns));
      const Work work = matmul_work(shape.number, shape.rows, shape.inner, shape.columns);
      probe_.matmuls.push_back({std::string(shape.name), shape.rows, shape.inner, shape.columns,
                                timed(world_, pace_, work)});
    }
    say("operations on next to nothing");
    probe_.launch = timed(world_, pace_, tiny_work());
  }

  void memory() {
    // Together larger than any cache of a host.
    constexpr i64 kTogether = i64{512} << 20, kMin = i64{16} << 20, kMax = i64{128} << 20;
    const i64 size = std::clamp(kTogether / i64(places_.by_host[0].size()), kMin, kMax);
    const i64 elements = size / 4;
    say(fmt::format("memory, {} a tensor", show_memory(Bytes{double(size)})));
    probe_.streams.push_back({"copy", bytes(2, size), timed(world_, pace_, copy_work(elements))});
    probe_.streams.push_back({"add", bytes(3, size), timed(world_, pace_, add_work(elements))});
  }

  Result<void> calls(fit::ProbeGroup kind) {
    const Result<std::shared_ptr<Transport>> joined = backend_.join(places_.members(kind));
    if (!joined) return fail(joined.error());
    const Group group(*joined, mesh::GroupKind::world, -1, nullptr);
    for (const plan::Op op : {plan::Op::all_reduce, plan::Op::all_gather, plan::Op::reduce_scatter,
                              plan::Op::send_recv}) {
      // Neighbours on the same host and on others at the same time are no figure of either level.
      if (op == plan::Op::send_recv && kind == fit::ProbeGroup::world &&
          places_.by_host[0].size() > 1)
        continue;
      probe_.calls.push_back(series(kind, op, group));
    }
    return {};
  }

  fit::ProbedCalls series(fit::ProbeGroup kind, plan::Op op, const Group& group) {
    constexpr i64 kSizes[] = {4096, 32768, 262144, 1048576, 4194304, 16777216};
    fit::ProbedCalls found{.group = kind, .op = op};
    double before = 0;
    i64 last = 0;
    for (const i64 size : kSizes) {
      const double expected = last == 0 ? 0 : before * double(size) / double(last);
      if (found.calls.size() > 1 && expected * (pace_.repeats + 2) > pace_.max) break;
      say(fmt::format("{}: {} of {}", name(kind), name(op), show_memory(Bytes{double(size)})));
      const Seconds time = timed(world_, pace_, call(op, group, size));
      found.calls.push_back({Bytes{double(size)}, time});
      before = time.value;
      last = size;
    }
    return found;
  }

  /// One call with `size` bytes of zeros, which sums leave as they are.
  Work call(plan::Op op, const Group& group, i64 size) {
    constexpr i64 kElement = 4;
    const i64 count = size / kElement;
    whole_.assign(std::size_t(count), 0);
    part_.assign(std::size_t(op == plan::Op::send_recv ? count : group.part(count).count), 0);
    const Slab whole{whole_.data(), count, Number::f32};
    const Slab part{part_.data(), i64(part_.size()), Number::f32};
    constexpr plan::TrafficKind kKind = plan::TrafficKind::dp_all_reduce;  // nobody counts it
    switch (op) {
      case plan::Op::all_reduce:
        return [=] { group.all_reduce(kKind, whole); };
      case plan::Op::all_gather:
        return [=] { group.all_gather(kKind, whole); };
      case plan::Op::reduce_scatter:
        return [=] { group.reduce_scatter(kKind, whole, part); };
      case plan::Op::send_recv:
      case plan::Op::all_to_all:
        break;
    }
    // Everybody to the next and from the one before: links carry as much both ways.
    const i64 next = (group.rank() + 1) % group.size();
    const i64 previous = (group.rank() + group.size() - 1) % group.size();
    return [=] {
      Pending received = group.start_recv(kKind, part, previous, 0);
      Pending sent = group.start_send(kKind, whole, next, 0);
      received.wait();
      sent.wait();
    };
  }

  const World& world_;
  const Backend& backend_;
  const ProbeOptions& options_;
  Pace pace_;
  Places places_{};
  fit::ProbeFigures probe_{};
  std::vector<float> whole_{}, part_{};
};

}  // namespace

Result<fit::ProbeFigures> probe(const World& world, const Backend& backend,
                                const ProbeOptions& options) {
  return Prober(world, backend, options).run();
}

}  // namespace rankwright::runtime
