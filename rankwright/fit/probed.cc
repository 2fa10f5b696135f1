#include "rankwright/fit/probed.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"
#include "rankwright/fit/level_fit.h"
#include "rankwright/plan/plan.h"

namespace rankwright::fit {
namespace {

constexpr std::string_view kProbedGroups[] = {"inside a host", "all ranks", "one rank per host"};

/// Returns the span of a probe's groups: those of a plan with tp inside the hosts and dp across
/// them.
mesh::Span find_span(ProbeGroup group, const cluster::Cluster& cluster) {
  const i64 ranks = cluster.devices(), inside = cluster.host_devices;
  const bool world = group == ProbeGroup::world;
  const plan::Plan plan{.tp = world ? 1 : inside, .dp = world ? ranks : ranks / inside};
  const mesh::GroupKind kind =
      group == ProbeGroup::host ? mesh::GroupKind::tp : mesh::GroupKind::dp;
  return span(make_group_shape(plan.meshes(), kind, plan.shards()), ranks, {}, cluster);
}

/// Returns the median rate over the shapes measured in this format, which represents a layer with
/// many shapes; 0 if none was measured.
double usual_rate(const std::vector<ProbedMatmul>& all, std::string_view number) {
  std::vector<double> rates;
  for (const ProbedMatmul& one : all)
    if (one.number == number) rates.push_back(one.rate().value);
  std::sort(rates.begin(), rates.end());
  return rates.empty() ? 0 : rates[rates.size() / 2];
}

std::string vendor(std::string_view id) {
  struct VendorRow {
    std::string_view id, name;
  };
  constexpr VendorRow kVendors[] = {{"GenuineIntel", "Intel"}, {"AuthenticAMD", "AMD"}};
  for (const VendorRow& row : kVendors)
    if (row.id == id) return std::string(row.name);
  return std::string(id);
}

cluster::Device device(const ProbeFigures& probe, i64 host_ranks) {
  const double fp32 = usual_rate(probe.matmuls, "fp32"), bf16 = usual_rate(probe.matmuls, "bf16");
  double memory = 0;
  for (const ProbedStream& stream : probe.streams) memory = std::max(memory, stream.rate().value);
  RW_CHECK(fp32 > 0 && memory > 0);
  return {.name = make_cpu_name(probe.processor),
          .vendor = vendor(probe.vendor),
          .memory = probe.memory / host_ranks,
          .memory_bandwidth = {round_to_four_digits(memory)},
          .bf16 = {round_to_four_digits(bf16 > 0 ? bf16 : fp32)},
          .generation = "cpu",
          .best_matmul = {round_to_four_digits(fp32)},
          .launch = {probe.launch.value > 0 ? round_to_four_digits(probe.launch.value) : 0},
          .source = "measured by rankwright probe"};
}

void fit(cluster::Cluster& cluster, std::size_t level, const ProbeFigures& probe,
         std::initializer_list<ProbeGroup> groups) {
  std::vector<SpannedSeries> series;
  for (const ProbedCalls& calls : probe.calls)
    if (std::find(groups.begin(), groups.end(), calls.group) != groups.end())
      series.push_back({calls.op, find_span(calls.group, cluster), calls.calls});
  RW_CHECK(!series.empty());
  fit_level(cluster, level, series, catalog::probed_calibration());
}

}  // namespace

std::string_view name(ProbeGroup group) { return kProbedGroups[std::size_t(group)]; }

std::optional<Diagnostic> check_equal_hosts(const ProbeFigures& probe) {
  RW_CHECK(!probe.hosts.empty() && probe.host_ranks.size() == probe.hosts.size());
  const auto [min, max] = std::minmax_element(probe.host_ranks.begin(), probe.host_ranks.end());
  if (*min == *max) return {};
  const auto at = [&](auto one) {
    const std::string& host = probe.hosts[std::size_t(one - probe.host_ranks.begin())];
    return fmt::format("{} has {}", make_excerpt(host), plural(*one, "rank", "ranks"));
  };
  return Diagnostic{.code = "RW0705",
                    .message = "hosts have different numbers of ranks",
                    .detail = fmt::format("{}, {}", at(min), at(max)),
                    .hint = fmt::format("mpirun -n {} --map-by ppr:{}:node",
                                        *min * i64(probe.hosts.size()), *min)};
}

cluster::Cluster make_probed_cluster(const ProbeFigures& probe) {
  RW_CHECK(!check_equal_hosts(probe));
  const i64 hosts = i64(probe.hosts.size()), inside = probe.host_ranks.front();
  cluster::Cluster cluster{
      .name = "probed", .device = device(probe, inside), .host_devices = inside};
  // Before they are fitted, and on a level that joins a single host, links are as fast as memory.
  const cluster::Level level{.bandwidth = cluster.device.memory_bandwidth,
                             .origin = cluster::Origin::measured,
                             .latency_origin = cluster::Origin::measured};
  if (inside > 1 || hosts == 1) {
    cluster::Level& host = cluster.levels.emplace_back(level);
    host.name = "host";
    host.arity = inside;
  }
  if (hosts > 1) {
    cluster::Level& network = cluster.levels.emplace_back(level);
    network.name = "network";
    network.arity = hosts;
    if (inside > 1) network.per = cluster::Level::Per::domain;
  }
  if (inside > 1) fit(cluster, 0, probe, {ProbeGroup::host});
  if (hosts > 1)
    fit(cluster, cluster.levels.size() - 1, probe, {ProbeGroup::world, ProbeGroup::rails});
  return cluster;
}

Seconds modelled(const cluster::Cluster& cluster, const ProbedCalls& calls, Bytes size) {
  return cost::estimate_collective_time(calls.op, size, find_span(calls.group, cluster), cluster,
                                        catalog::probed_calibration());
}

std::string make_cpu_name(std::string_view processor) {
  // Remove what vendors add to every name, and the clock rate after '@'.
  std::string text = lower(processor.substr(0, processor.find('@')));
  for (const std::string_view noise : {"(r)", "(tm)", "intel", "amd", "cpu", "processor"})
    for (std::size_t at = text.find(noise); at != std::string::npos; at = text.find(noise))
      text.replace(at, noise.size(), " ");
  std::string name = "cpu";
  bool gap = true;
  constexpr std::size_t kLongest = 40;
  for (const char c : text.substr(0, kLongest)) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word && gap) name += '-';
    if (word) name += c;
    gap = !word;
  }
  return name;
}

}  // namespace rankwright::fit
