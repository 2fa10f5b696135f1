#include "rankwright/export/cluster_file.h"

#include <fmt/format.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/export/comment.h"
#include "rankwright/export/typed.h"

namespace rankwright::exporter {
namespace {

/// Appends one `key: value` line, indented to `column`.
void add_line(std::string& map, std::size_t column, std::string_view key, std::string_view value) {
  map += fmt::format("\n{:{}}{}: {}", "", column, key, value);
}

/// Returns the device's name if the catalog has an equal device of that name, else a map of its
/// figures.
std::string write_device(const cluster::Device& d, std::size_t column) {
  const Result<cluster::Device> known = catalog::find_device(d.name);
  if (known && *known == d) return " " + write_yaml_text(d.name);
  std::string map;
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) add_line(map, column, key, write_yaml_text(value));
  };
  const auto figure = [&](std::string_view key, auto value) {
    if (value.value > 0) add_line(map, column, key, write_yaml_value(value));
  };
  add_line(map, column, "name", write_yaml_text(d.name));
  text("vendor", d.vendor);
  figure("memory", d.memory);
  figure("memory_bandwidth", d.memory_bandwidth);
  figure("fp16", d.fp16);
  figure("bf16", d.bf16);
  figure("fp8", d.fp8);
  figure("fp4", d.fp4);
  text("generation", d.generation);
  if (d.multiprocessors > 0)
    add_line(map, column, "multiprocessors", std::to_string(d.multiprocessors));
  if (d.watts > 0) add_line(map, column, "watts", write_yaml_value(d.watts));
  figure("best_matmul", d.best_matmul);
  figure("launch", d.launch);
  add_line(map, column, "source", write_yaml_text(d.source));
  text("verified", d.verified);
  return map;
}

std::string write_level(const cluster::Level& l) {
  const cluster::Level defaults{};
  std::string text = fmt::format("{{name: {}, arity: {}, bandwidth: {}", write_yaml_text(l.name),
                                 l.arity, write_yaml_value(l.bandwidth));
  const auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format(", {}: {}", key, value);
  };
  if (l.latency != defaults.latency) add("latency", write_yaml_value(l.latency));
  if (l.oversubscription != defaults.oversubscription)
    add("oversubscription", write_yaml_value(l.oversubscription));
  if (l.per == cluster::Level::Per::domain) add("per", "domain");
  if (l.origin != defaults.origin) add("origin", name(l.origin));
  if (l.latency_origin != defaults.latency_origin) add("latency_origin", name(l.latency_origin));
  return text + "}";
}

}  // namespace

std::string write_cluster_map(const cluster::Cluster& c, std::size_t column) {
  std::string map;
  if (c.name != "cluster")
    add_line(map, column, "name",
             write_yaml_text(c.name));  // "cluster" is the name of unnamed ones
  map += fmt::format("\n{:{}}device:{}", "", column, write_device(c.device, column + 2));
  map += fmt::format("\n{:{}}levels:", "", column);
  for (const cluster::Level& l : c.levels)
    map += fmt::format("\n{:{}}- {}", "", column + 2, write_level(l));
  if (c.host_devices != c.levels.front().arity)
    add_line(map, column, "host_devices", std::to_string(c.host_devices));
  if (c.host.memory > Bytes{})
    add_line(map, column, "host_memory", write_yaml_value(c.host.memory));
  if (c.host.link > BytesPerSecond{})
    add_line(map, column, "host_link", write_yaml_value(c.host.link));
  if (c.host.nvme.capacity > Bytes{})
    add_line(map, column, "nvme_capacity", write_yaml_value(c.host.nvme.capacity));
  if (c.host.nvme.read > BytesPerSecond{})
    add_line(map, column, "nvme_read", write_yaml_value(c.host.nvme.read));
  if (c.host.nvme.write > BytesPerSecond{})
    add_line(map, column, "nvme_write", write_yaml_value(c.host.nvme.write));
  return map;
}

std::string write_cluster_yaml(const cluster::Cluster& cluster,
                               const std::vector<std::string>& head) {
  return write_comments(head, "#") + write_cluster_map(cluster, 0).substr(1) + "\n";
}

}  // namespace rankwright::exporter
