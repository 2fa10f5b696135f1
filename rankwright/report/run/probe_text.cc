#include "rankwright/report/run/probe_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

Table make_matmul_table(const fit::ProbeFigures& probe) {
  Table table{{{"matmul"},
               {"rows", kRight},
               {"inner", kRight},
               {"columns", kRight},
               {"time", kRight},
               {"rate", kRight}}};
  for (const fit::ProbedMatmul& one : probe.matmuls)
    table.rows.push_back({one.number, count(one.rows), count(one.inner), count(one.columns),
                          show(one.time), show(one.rate())});
  return table;
}

Table make_memory_table(const fit::ProbeFigures& probe) {
  Table table{{{"memory"}, {"moved", kRight}, {"time", kRight}, {"rate", kRight}}};
  for (const fit::ProbedStream& one : probe.streams)
    table.rows.push_back({one.name, show(one.moved), show(one.time), show(one.rate())});
  table.rows.push_back({"tiny operation", "-", show(probe.launch), "-"});
  return table;
}

Table make_call_table(const fit::ProbeFigures& probe, const cluster::Cluster& cluster) {
  Table table{{{"calls"},
               {""},
               {"size", kRight},
               {"time", kRight},
               {"size/time", kRight},
               {"model", kRight},
               {"model/measured", kRight}}};
  for (const fit::ProbedCalls& series : probe.calls) {
    std::string group(name(series.group)), op(name(series.op));
    for (const fit::MeasuredCall& call : series.calls) {
      const Seconds model = modelled(cluster, series, call.size);
      table.rows.push_back({std::exchange(group, ""), std::exchange(op, ""), show_memory(call.size),
                            show(call.time), show(call.size / call.time), show(model),
                            fmt::format("{:.2f}", model / call.time)});
    }
  }
  return table;
}

std::string write_levels(const cluster::Cluster& cluster) {
  std::string text;
  for (const cluster::Level& level : cluster.levels) {
    if (level.arity == 1) continue;
    text += fmt::format("{}: {}{}, {} per hop, connects {}\n", level.name, show(level.bandwidth),
                        level.per == cluster::Level::Per::domain ? " per host" : " per rank",
                        show(level.latency), level.arity);
  }
  return text;
}

}  // namespace

std::vector<std::string> list_probe_comments(const fit::ProbeFigures& probe) {
  std::vector<std::string> head{
      fmt::format("{} on {}, measured by rankwright probe",
                  plural(probe.host_ranks.front() * i64(probe.hosts.size()), "rank", "ranks"),
                  plural(i64(probe.hosts.size()), "host", "hosts"))};
  constexpr std::size_t kMaxNames = 32;
  for (std::size_t i = 0; i < probe.hosts.size() && i < kMaxNames; ++i)
    head.push_back(fmt::format("host {}", make_excerpt(probe.hosts[i], 64)));
  if (probe.hosts.size() > kMaxNames)
    head.push_back(fmt::format("and {} more", count(i64(probe.hosts.size() - kMaxNames))));
  return head;
}

std::string render_probe_text(const fit::ProbeFigures& probe, const cluster::Cluster& cluster,
                              const Paint& paint) {
  std::string text = list_probe_comments(probe).front() + "\n";
  text += fmt::format("{}: {} and {} per rank\n", cluster.device.name,
                      show(cluster.device.best_matmul), show_memory(cluster.device.memory));
  text += write_levels(cluster) + "\n";
  text += make_matmul_table(probe).text(paint) + "\n" + make_memory_table(probe).text(paint);
  if (!probe.calls.empty()) text += "\n" + make_call_table(probe, cluster).text(paint);
  return text;
}

std::string make_probe_json(const fit::ProbeFigures& probe, const cluster::Cluster& cluster) {
  ordered_json matmuls = ordered_json::array(), streams = ordered_json::array(),
               calls = ordered_json::array(), levels = ordered_json::array();
  for (const fit::ProbedMatmul& one : probe.matmuls)
    matmuls.push_back({{"number", one.number},
                       {"rows", one.rows},
                       {"inner", one.inner},
                       {"columns", one.columns},
                       {"seconds", one.time.value},
                       {"flops_per_second", one.rate().value}});
  for (const fit::ProbedStream& one : probe.streams)
    streams.push_back({{"name", one.name},
                       {"bytes", one.moved.value},
                       {"seconds", one.time.value},
                       {"bytes_per_second", one.rate().value}});
  for (const fit::ProbedCalls& series : probe.calls)
    for (const fit::MeasuredCall& call : series.calls)
      calls.push_back({{"group", name(series.group)},
                       {"collective", name(series.op)},
                       {"bytes", call.size.value},
                       {"seconds", call.time.value},
                       {"model_seconds", modelled(cluster, series, call.size).value}});
  for (const cluster::Level& level : cluster.levels)
    levels.push_back({{"name", level.name},
                      {"arity", level.arity},
                      {"bytes_per_second", level.bandwidth.value},
                      {"latency_seconds", level.latency.value}});
  const ordered_json json = {{"schema", "rankwright.probe/1"},
                             {"hosts", probe.hosts},
                             {"ranks_per_host", probe.host_ranks.front()},
                             {"processor", probe.processor},
                             {"memory_bytes", probe.memory.value},
                             {"matmuls", matmuls},
                             {"memory", streams},
                             {"launch_seconds", probe.launch.value},
                             {"calls", calls},
                             {"device",
                              {{"name", cluster.device.name},
                               {"best_matmul", cluster.device.best_matmul.value},
                               {"memory_bandwidth", cluster.device.memory_bandwidth.value},
                               {"launch_seconds", cluster.device.launch.value}}},
                             {"levels", levels}};
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
