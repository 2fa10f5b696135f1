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

/// How long one measurement may take.
struct Pace {
  double batch;  // seconds of consecutive calls: many scheduler periods, as in a run
  int repeats;
  double max;  // seconds per measurement: larger messages that would take longer are skipped
};
constexpr Pace kPace{0.08, 5, 5}, kQuickPace{0.02, 3, 0.5};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns the seconds of one `work`: mean over consecutive calls on the slowest rank, median over
/// repeats. Collective.
Seconds measure_time(const World& world, const Pace& pace, const Work& work) {
  work();  // warm-up: connections and memory are set up once
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

/// Returns the host names of all ranks, by rank. Collective.
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

/// Returns the value of a "key : value" line in a file of /proc; empty if there is none.
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

/// The ranks of each host, and this rank's position among them.
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

void read_machine(fit::ProbeFigures& probe) {
  probe.processor = proc_value("/proc/cpuinfo", "model name");
  probe.vendor = proc_value("/proc/cpuinfo", "vendor_id");
  constexpr double kKiB = 1024;
  double total = 0;
  std::istringstream(proc_value("/proc/meminfo", "MemTotal")) >> total;
  probe.memory = {std::max(1.0, total) * kKiB};
}

/// The shape of a matmul to measure.
struct Shape {
  Number number;
  std::string_view name;
  i64 rows, inner, columns;
  bool quick;  // also measured by a quick probe
};
// Rows are the tokens of a microbatch. Formats other than fp32 are scaled from one shape.
constexpr Shape kShapes[] = {
    {Number::f32, "fp32", 128, 256, 256, false},    {Number::f32, "fp32", 256, 256, 256, true},
    {Number::f32, "fp32", 512, 256, 256, false},    {Number::f32, "fp32", 1024, 256, 256, false},
    {Number::f32, "fp32", 256, 256, 1024, false},   {Number::f32, "fp32", 256, 1024, 256, false},
    {Number::f32, "fp32", 256, 1024, 1024, false},  {Number::f32, "fp32", 512, 512, 512, true},
    {Number::f32, "fp32", 1024, 1024, 1024, false}, {Number::f64, "fp64", 512, 512, 512, false},
    {Number::bf16, "bf16", 256, 256, 256, false},
};

/// Runs all measurements in turn, each on all ranks at the same time.
class Prober {
 public:
  Prober(const World& world, const Backend& backend, const ProbeOptions& options)
      : world_(world),
        backend_(backend),
        options_(options),
        pace_(options.quick ? kQuickPace : kPace) {}

  Result<fit::ProbeFigures> run() {
    places_ = find_places(world_, probe_);
    if (const std::optional<Diagnostic> unequal = check_equal_hosts(probe_)) return fail(*unequal);
    read_machine(probe_);
    compute();
    memory();
    const bool several = places_.by_host.size() > 1, shared = places_.by_host[0].size() > 1;
    if (shared)
      if (const Result<void> done = measure_calls(fit::ProbeGroup::host); !done)
        return fail(done.error());
    if (several)
      if (const Result<void> done = measure_calls(fit::ProbeGroup::world); !done)
        return fail(done.error());
    if (several && shared)
      if (const Result<void> done = measure_calls(fit::ProbeGroup::rails); !done)
        return fail(done.error());
    return probe_;
  }

 private:
  void report_progress(const std::string& what) const {
    if (world_.rank() == 0) options_.said(what);
  }

  void compute() {
    for (const Shape& shape : kShapes) {
      if (options_.quick && !shape.quick) continue;
      report_progress(fmt::format("matmul {} {} x {} x {}", shape.name, shape.rows, shape.inner,
                                  shape.columns));
      const Work work = matmul_work(shape.number, shape.rows, shape.inner, shape.columns);
      probe_.matmuls.push_back({std::string(shape.name), shape.rows, shape.inner, shape.columns,
                                measure_time(world_, pace_, work)});
    }
    report_progress("operations on next to nothing");
    probe_.launch = measure_time(world_, pace_, tiny_work());
  }

  void memory() {
    // In total larger than the caches of a host.
    constexpr i64 kTotal = i64{512} << 20, kMin = i64{16} << 20, kMax = i64{128} << 20;
    const i64 size = std::clamp(kTotal / i64(places_.by_host[0].size()), kMin, kMax);
    const i64 elements = size / 4;
    report_progress(fmt::format("memory, {} a tensor", show_memory(Bytes{double(size)})));
    probe_.streams.push_back(
        {"copy", bytes(2, size), measure_time(world_, pace_, copy_work(elements))});
    probe_.streams.push_back(
        {"add", bytes(3, size), measure_time(world_, pace_, add_work(elements))});
  }

  Result<void> measure_calls(fit::ProbeGroup kind) {
    const Result<std::shared_ptr<Transport>> joined = backend_.join(places_.members(kind));
    if (!joined) return fail(joined.error());
    const Group group(*joined, mesh::GroupKind::world, -1, nullptr);
    for (const plan::Op op : {plan::Op::all_reduce, plan::Op::all_gather, plan::Op::reduce_scatter,
                              plan::Op::send_recv}) {
      // A mix of neighbors on the same host and on other hosts measures neither level.
      if (op == plan::Op::send_recv && kind == fit::ProbeGroup::world &&
          places_.by_host[0].size() > 1)
        continue;
      probe_.calls.push_back(measure_series(kind, op, group));
    }
    return {};
  }

  fit::ProbedCalls measure_series(fit::ProbeGroup kind, plan::Op op, const Group& group) {
    constexpr i64 kSizes[] = {4096, 32768, 262144, 1048576, 4194304, 16777216};
    fit::ProbedCalls found{.group = kind, .op = op};
    double before = 0;
    i64 last = 0;
    for (const i64 size : kSizes) {
      const double expected = last == 0 ? 0 : before * double(size) / double(last);
      if (found.calls.size() > 1 && expected * (pace_.repeats + 2) > pace_.max) break;
      report_progress(
          fmt::format("{}: {} of {}", name(kind), name(op), show_memory(Bytes{double(size)})));
      const Seconds time = measure_time(world_, pace_, call(op, group, size));
      found.calls.push_back({Bytes{double(size)}, time});
      before = time.value;
      last = size;
    }
    return found;
  }

  /// Returns one call with `size` bytes of zeros, which sums do not change.
  Work call(plan::Op op, const Group& group, i64 size) {
    constexpr i64 kElement = 4;
    const i64 count = size / kElement;
    whole_.assign(std::size_t(count), 0);
    part_.assign(std::size_t(op == plan::Op::send_recv ? count : group.part(count).count), 0);
    const Slab whole{whole_.data(), count, Number::f32};
    const Slab part{part_.data(), i64(part_.size()), Number::f32};
    constexpr plan::TrafficKind kKind = plan::TrafficKind::dp_all_reduce;  // not counted
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
    // Every rank sends to the next and receives from the previous, which loads links in both
    // directions.
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
