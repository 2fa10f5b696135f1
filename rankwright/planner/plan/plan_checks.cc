#include "rankwright/planner/plan/plan_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/planner/plan/plan_options.h"

namespace rankwright::planner {
namespace {

/// Returns the divisors of `all` next to `n`, as an option to type.
std::string suggest_divisors(std::string_view flag, i64 n, i64 all) {
  i64 below = 1, above = all;
  for (i64 d = 1; d <= all; ++d) {
    if (all % d != 0) continue;
    if (d < n) below = d;
    if (d > n) {
      above = d;
      break;
    }
  }
  return n > all ? fmt::format("{} {}", flag, all)
                 : fmt::format("{0} {1} or {0} {2}", flag, below, above);
}

}  // namespace

std::optional<Refusal> check_size(const PlanRequest& request, const cluster::Cluster& cluster) {
  const i64 devices = cluster.devices();
  if (request.gpus && request.gpus->max > devices)
    return make_usage_refusal(
        fmt::format("--gpus {}, but the cluster has {}", request.gpus->max, count(devices)),
        fmt::format("--gpus {}, or a larger --cluster", devices));
  if (request.max_memory && request.max_memory->size > cluster.device.memory)
    return make_usage_refusal(fmt::format("--max-memory {} is more than the {} of a {}",
                                          show_memory(request.max_memory->size),
                                          show_memory(cluster.device.memory), cluster.device.name),
                              "drop --max-memory: plans may use the whole device");
  if (!request.excluded) return std::nullopt;
  const i64 hosts = devices / std::max<i64>(1, cluster.host_devices);
  const ExcludedHosts& out = *request.excluded;
  if (!out.hosts.empty() && out.hosts.back() >= hosts)
    return make_usage_refusal(fmt::format("host {} does not exist: the cluster has hosts 0 to {}",
                                          out.hosts.back(), hosts - 1),
                              "--exclude-nodes with hosts of the cluster");
  if (out.count >= hosts)
    return make_usage_refusal(
        fmt::format("no host is left: {} of {} are excluded", count(out.count), count(hosts)),
        "fewer in --exclude-nodes or --exclude-count");
  return std::nullopt;
}

std::optional<Refusal> check_limits(const search::Limits& limits, const model::Model& model) {
  if ((limits.ep.min > 1 || limits.etp.min > 1) && !model.sparse())
    return make_usage_refusal(
        fmt::format("--ep or --etp above 1, but {} has no experts", model.name),
        "leave them out, or a --model with experts");
  if (limits.pp.max == 1 && (limits.chunks.min > 1 || limits.schedule))
    return make_usage_refusal("--chunks or --schedule, but there is to be no pipeline",
                              "leave them out, or a --pp above 1");
  if (limits.tp.max == 1 && limits.sequence_parallel == true)
    return make_usage_refusal("--sequence-parallel, but tensor parallelism is to be 1",
                              "leave it out, or a --tp above 1");
  if (limits.cp.max == 1 && limits.cp_comm)
    return make_usage_refusal("--cp-comm, but context parallelism is to be 1",
                              "leave it out, or a --cp above 1");
  return std::nullopt;
}

std::optional<Refusal> check_degrees(const search::Limits& limits, i64 world) {
  const std::pair<std::string_view, const search::Range&> degrees[] = {
      {"--tp", limits.tp}, {"--cp", limits.cp}, {"--pp", limits.pp}, {"--dp", limits.dp}};
  i64 all = 1;
  std::string named;
  for (const auto& [flag, range] : degrees) {
    if (range.min != range.max || range.min == 1) continue;
    const i64 n = range.min;
    if (world % n != 0)
      return make_usage_refusal(fmt::format("{} {} does not divide {} GPUs", flag, n, count(world)),
                                suggest_divisors(flag, n, world));
    all *= n;  // cannot overflow: each degree is at most the world, and the previous product
               // divides it
    named += fmt::format("{}{} {}", named.empty() ? "" : " x ", flag, n);
    if (world % all != 0)
      return make_usage_refusal(
          fmt::format("{} is {}, which does not divide {} GPUs", named, count(all), count(world)),
          fmt::format("degrees whose product divides {}", world));
  }
  return std::nullopt;
}

}  // namespace rankwright::planner
