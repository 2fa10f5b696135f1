#include "rankwright/import/cluster/cluster_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/cluster/cluster_format.h"

namespace rankwright::importer {
namespace {

// Limits of a file: beyond real systems, and such that no time becomes 0 or infinite.
constexpr i64 kMaxArity = cluster::kMaxDevices;
constexpr double kMaxOversubscription = 1000;
constexpr std::size_t kLongestSource = 400;

template <class Quantity>
struct QuantityRange {
  Quantity min, max;
};
constexpr QuantityRange<Bytes> kMemory{{1}, {1e15}};
constexpr QuantityRange<BytesPerSecond> kBandwidth{{1}, {1e18}};
constexpr QuantityRange<Seconds> kLatency{{0}, {1000}};
constexpr QuantityRange<FlopsPerSecond> kRate{{1}, {1e24}};

template <class Quantity>
std::optional<Quantity> read_quantity(FieldReader& reader, const YamlNode& node,
                                      Result<Quantity> (*parse)(std::string_view),
                                      QuantityRange<Quantity> range) {
  if (!reader.expect(node, YamlNode::Kind::scalar, "a number with its unit")) return std::nullopt;
  const std::optional<Quantity> value = reader.take(node, parse(node.scalar));
  if (!value || (*value >= range.min && *value <= range.max)) return value;
  reader.report(
      node, {.code = "RW0904",
             .message = "number out of range",
             .detail = fmt::format("'{}' is not in the range {} to {}", make_excerpt(node.scalar),
                                   show(range.min), show(range.max))});
  return std::nullopt;
}

struct LevelField {
  std::string_view key;
  void (*read)(FieldReader&, const YamlNode&, cluster::Level&);
};

constexpr std::string_view kPer[] = {"device", "domain"};
constexpr std::string_view kOrigins[] = {"data sheet", "calibrated", "measured", "assumed"};

constexpr LevelField kLevelFields[] = {
    {"name", [](FieldReader& r, const YamlNode& n,
                cluster::Level& l) { l.name = r.label(n).value_or(""); }},
    {"arity", [](FieldReader& r, const YamlNode& n,
                 cluster::Level& l) { l.arity = r.whole(n, 1, kMaxArity).value_or(1); }},
    {"bandwidth",
     [](FieldReader& r, const YamlNode& n, cluster::Level& l) {
       l.bandwidth = read_quantity(r, n, parse_bandwidth, kBandwidth).value_or(BytesPerSecond{1});
     }},
    {"latency",
     [](FieldReader& r, const YamlNode& n, cluster::Level& l) {
       l.latency = read_quantity(r, n, parse_duration, kLatency).value_or(Seconds{});
     }},
    {"oversubscription",
     [](FieldReader& r, const YamlNode& n, cluster::Level& l) {
       l.oversubscription = r.number(n, 1, kMaxOversubscription).value_or(1);
     }},
    {"per", [](FieldReader& r, const YamlNode& n,
               cluster::Level& l) { l.per = cluster::Level::Per(r.one_of(n, kPer).value_or(0)); }},
    {"origin",
     [](FieldReader& r, const YamlNode& n, cluster::Level& l) {
       l.origin = cluster::Origin(r.one_of(n, kOrigins).value_or(0));
     }},
    {"latency_origin",
     [](FieldReader& r, const YamlNode& n, cluster::Level& l) {
       l.latency_origin = cluster::Origin(r.one_of(n, kOrigins).value_or(0));
     }},
};

struct DeviceField {
  std::string_view key;
  void (*read)(FieldReader&, const YamlNode&, cluster::Device&);
};

constexpr DeviceField kDeviceFields[] = {
    {"name", [](FieldReader& r, const YamlNode& n,
                cluster::Device& d) { d.name = r.label(n).value_or(""); }},
    {"vendor", [](FieldReader& r, const YamlNode& n,
                  cluster::Device& d) { d.vendor = r.label(n).value_or(""); }},
    {"memory",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.memory = read_quantity(r, n, parse_bytes, kMemory).value_or(Bytes{1});
     }},
    {"memory_bandwidth",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.memory_bandwidth =
           read_quantity(r, n, parse_bandwidth, kBandwidth).value_or(BytesPerSecond{1});
     }},
    {"fp16",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.fp16 = read_quantity(r, n, parse_flops, kRate).value_or(FlopsPerSecond{1});
     }},
    {"bf16",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.bf16 = read_quantity(r, n, parse_flops, kRate).value_or(FlopsPerSecond{1});
     }},
    {"fp8",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.fp8 = read_quantity(r, n, parse_flops, kRate).value_or(FlopsPerSecond{1});
     }},
    {"fp4",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.fp4 = read_quantity(r, n, parse_flops, kRate).value_or(FlopsPerSecond{1});
     }},
    {"generation", [](FieldReader& r, const YamlNode& n,
                      cluster::Device& d) { d.generation = r.label(n).value_or(""); }},
    {"multiprocessors",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.multiprocessors = r.whole(n, 1, 1'000'000).value_or(0);
     }},
    {"watts", [](FieldReader& r, const YamlNode& n,
                 cluster::Device& d) { d.watts = r.number(n, 1, 1'000'000).value_or(0); }},
    {"best_matmul",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.best_matmul = read_quantity(r, n, parse_flops, kRate).value_or(FlopsPerSecond{1});
     }},
    {"launch",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.launch = read_quantity(r, n, parse_duration, kLatency).value_or(Seconds{});
     }},
    {"source",
     [](FieldReader& r, const YamlNode& n, cluster::Device& d) {
       d.source = make_excerpt(r.text(n).value_or(""), kLongestSource);
     }},
    {"verified", [](FieldReader& r, const YamlNode& n,
                    cluster::Device& d) { d.verified = r.label(n).value_or(""); }},
};

template <class Field, std::size_t N>
std::vector<std::string_view> key_names(const Field (&fields)[N]) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.key);
  return names;
}

void report_missing(FieldReader& reader, const YamlNode& node, std::string_view what,
                    std::string_view example) {
  reader.report(node, {.code = "RW0912",
                       .message = "missing value",
                       .detail = fmt::format("missing {}", what),
                       .hint = std::string(example)});
}

cluster::Device read_device(FieldReader& reader, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::scalar)
    return reader.take(node, catalog::find_device(node.scalar)).value_or(cluster::Device{});
  cluster::Device device{.name = "device", .source = "the cluster file"};
  if (!reader.expect(node, YamlNode::Kind::map, "a device name or a map of its properties"))
    return device;
  reader.each(node, key_names(kDeviceFields), [&](std::size_t field, const YamlNode& value) {
    kDeviceFields[field].read(reader, value, device);
  });
  if (device.memory <= Bytes{})
    report_missing(reader, node, "the device's memory", "memory: 80 GB");
  if (device.memory_bandwidth <= BytesPerSecond{})
    report_missing(reader, node, "the bandwidth of the device's memory",
                   "memory_bandwidth: 3350 GB/s");
  if (device.bf16 <= FlopsPerSecond{} && device.fp16 <= FlopsPerSecond{})
    report_missing(reader, node, "the device's bf16 rate", "bf16: 989 TFLOP/s");
  return device;
}

std::vector<cluster::Level> read_levels(FieldReader& reader, const YamlNode& node) {
  std::vector<cluster::Level> levels;
  if (!reader.expect(node, YamlNode::Kind::sequence, "a list of levels, innermost first"))
    return levels;
  for (const YamlNode& item : node.items) {
    if (levels.size() == cluster::kMaxLevels) {
      reader.report(item, {.code = "RW0904",
                           .message = "number out of range",
                           .detail = fmt::format("too many levels: at most {} are supported",
                                                 cluster::kMaxLevels)});
      break;
    }
    if (!reader.expect(item, YamlNode::Kind::map,
                       "a level such as {arity: 8, bandwidth: 450 GB/s}"))
      continue;
    cluster::Level level{.name = fmt::format("level {}", levels.size())};
    level.arity = 0;
    reader.each(item, key_names(kLevelFields), [&](std::size_t field, const YamlNode& value) {
      kLevelFields[field].read(reader, value, level);
    });
    if (level.arity == 0) report_missing(reader, item, "the level's arity", "arity: 8");
    if (level.bandwidth <= BytesPerSecond{})
      report_missing(reader, item, "the level's bandwidth", "bandwidth: 450 GB/s");
    levels.push_back(std::move(level));
  }
  return levels;
}

/// Returns whether the number of devices is within the limit; reports it if not.
bool check_device_count(FieldReader& reader, const YamlNode& node,
                        const cluster::Cluster& cluster) {
  i64 devices = 1;
  for (const cluster::Level& level : cluster.levels) {
    const std::optional<i64> more = product({devices, level.arity});
    if (!more || *more > cluster::kMaxDevices) {
      reader.report(node, {.code = "RW0904",
                           .message = "number out of range",
                           .detail = fmt::format("the product of the arities exceeds {} devices",
                                                 count(cluster::kMaxDevices))});
      return false;
    }
    devices = *more;
  }
  return true;
}

std::optional<cluster::Cluster> read_map(FieldReader& reader, const YamlNode& node,
                                         Diagnostics& findings) {
  cluster::Cluster cluster{.name = "cluster"};
  if (!reader.expect(node, YamlNode::Kind::map, "a device and its levels")) return std::nullopt;
  const std::size_t faults_before = findings.size();
  constexpr std::string_view kKeys[] = {"name",          "device",      "levels",
                                        "host_devices",  "host_memory", "host_link",
                                        "nvme_capacity", "nvme_read",   "nvme_write"};
  const auto read_memory = [&](const YamlNode& value) {
    return read_quantity(reader, value, parse_bytes, kMemory).value_or(Bytes{});
  };
  const auto read_rate = [&](const YamlNode& value) {
    return read_quantity(reader, value, parse_bandwidth, kBandwidth).value_or(BytesPerSecond{});
  };
  reader.each(node, {std::begin(kKeys), std::end(kKeys)},
              [&](std::size_t key, const YamlNode& value) {
                if (key == 0) cluster.name = reader.label(value).value_or("cluster");
                if (key == 1) cluster.device = read_device(reader, value);
                if (key == 2) cluster.levels = read_levels(reader, value);
                if (key == 3) cluster.host_devices = reader.whole(value, 1, kMaxArity).value_or(0);
                if (key == 4) cluster.host.memory = read_memory(value);
                if (key == 5) cluster.host.link = read_rate(value);
                if (key == 6) cluster.host.nvme.capacity = read_memory(value);
                if (key == 7) cluster.host.nvme.read = read_rate(value);
                if (key == 8) cluster.host.nvme.write = read_rate(value);
              });
  if (node.find("device") == nullptr)
    report_missing(reader, node, "the device", "device: h100-sxm");
  const YamlNode* levels = node.find("levels");
  if (levels == nullptr || (levels->kind == YamlNode::Kind::sequence && levels->items.empty()))
    report_missing(reader, node, "the list of levels",
                   "levels: [{name: nvlink, arity: 8, bandwidth: 450 GB/s, latency: 2 us}]");
  for (std::size_t i = faults_before; i < findings.size(); ++i)
    if (findings[i].severity == Severity::error) return std::nullopt;
  if (!check_device_count(reader, node, cluster)) return std::nullopt;
  if (cluster.host_devices == 0) cluster.host_devices = cluster.levels.front().arity;
  if (!divides(cluster.host_devices, cluster.devices())) {
    reader.report(*node.find("host_devices"),
                  {.code = "RW0904",
                   .message = "number out of range",
                   .detail = fmt::format("hosts of {} devices do not divide {}",
                                         cluster.host_devices, count(cluster.devices()))});
    return std::nullopt;
  }
  return cluster;
}

/// Decides by the ending; a name without one of these is looked up in the catalog first.
bool names_a_file(std::string_view text) {
  constexpr std::string_view kEndings[] = {".yaml", ".yml", ".xml", ".txt",
                                           ".conf", ".out", ".log"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return text.ends_with(ending); });
}

}  // namespace

std::optional<cluster::Cluster> read_cluster(FieldReader& reader, const YamlNode& node,
                                             const FileReader& files) {
  if (node.kind == YamlNode::Kind::map) return read_map(reader, node, reader.findings());
  const std::optional<std::string> name = reader.text(node);
  if (!name) return std::nullopt;
  if (!names_a_file(*name)) return reader.take(node, catalog::find_cluster(*name));
  const std::string path = beside(reader.file(), *name);
  const std::optional<std::string> text = reader.take(node, files(path));
  if (!text) return std::nullopt;
  return read_any_cluster(*text, path, reader.findings());
}

std::optional<cluster::Cluster> read_cluster_file(std::string_view text, std::string_view file,
                                                  Diagnostics& findings) {
  const Result<YamlNode> root = read_yaml(text, file);
  if (!root) {
    findings.push_back(root.error());
    return std::nullopt;
  }
  FieldReader reader(file, findings);
  return read_map(reader, *root, findings);
}

std::optional<cluster::Cluster> read_any_cluster(std::string_view text, std::string_view file,
                                                 Diagnostics& findings) {
  const ClusterFormat* const format = find_claiming_format(file, text);
  if (format == nullptr) return read_cluster_file(text, file, findings);
  ClusterParts parts;
  Diagnostics found;
  format->read(text, file, parts, found);
  std::optional<cluster::Cluster> cluster;
  if (!has_errors(found)) cluster = resolve_cluster(parts, found);
  for (Diagnostic& finding : found) {
    if (finding.where.file.empty()) finding.where.file = file;
    findings.push_back(std::move(finding));
  }
  return cluster;
}

std::optional<cluster::Cluster> read_cluster_argument(const std::string& argument,
                                                      const FileReader& files,
                                                      Diagnostics& findings) {
  Result<cluster::Cluster> cluster = catalog::find_cluster(argument);
  if (cluster) return *cluster;
  const Result<std::string> text = files(argument);
  if (text) return read_any_cluster(*text, argument, findings);
  if (names_a_file(argument)) {
    findings.push_back(text.error());
    return std::nullopt;
  }
  cluster.error().where.file = "--cluster";
  findings.push_back(cluster.error());
  return std::nullopt;
}

}  // namespace rankwright::importer
