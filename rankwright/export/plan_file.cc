#include "rankwright/export/plan_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/export/typed.h"
#include "rankwright/import/draft.h"
#include "rankwright/model/shapes.h"

namespace rankwright {
namespace {

std::string number(i64 n) { return std::to_string(n); }
std::string unless(i64 n, i64 usual) { return n == usual ? "" : number(n); }
std::string unless(bool flag, bool usual) { return flag == usual ? "" : typed(flag); }

/// A line of a map that begins at `column`.
void add_line(std::string& map, std::size_t column, std::string_view key, std::string_view value) {
  map += fmt::format("\n{:{}}{}: {}", "", column, key, value);
}

std::string node_shape(const Setup& s) {
  constexpr i64 kMaxGpus = 4096;  // that the key takes
  const i64 gpus = s.cluster.host_devices;
  if (!divides(gpus, s.world) || gpus > kMaxGpus || s.world > kMaxDevices) return "";
  const i64 nodes = s.world / gpus;
  return fmt::format("{}_node{}_x_{}_gpu{}", nodes, nodes == 1 ? "" : "s", gpus,
                     gpus == 1 ? "" : "s");
}

std::string etp_size(const Setup& s) {
  const bool says = s.model.sparse() && (s.plan.tp > 1 || s.plan.etp > 1);
  return says ? number(s.plan.etp) : "";
}

std::string sequence_parallel(const Setup& s) {
  const bool says = s.plan.tp > 1 || s.plan.sequence_parallel;
  return says ? typed(s.plan.sequence_parallel) : "";
}

std::string cp_comm(const Setup& s) {
  const bool says = s.plan.cp > 1 || s.plan.cp_comm != CpComm::p2p;
  return says ? std::string(name(s.plan.cp_comm)) : "";
}

std::string schedule(const Setup& s) {
  const Plan& p = s.plan;
  const Schedule usual = p.virtual_stages > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  return p.pp > 1 || p.schedule != usual ? std::string(name(p.schedule)) : "";
}

std::string stages(const Setup& s) {
  return s.plan.stages.empty() ? "" : typed_text(show_layout(s.plan.stages));
}

std::string recompute(const Setup& s) {
  const bool partly = s.plan.recompute == Recompute::full && s.plan.recompute_layers > 0;
  if (partly) return fmt::format("{{full: {}}}", s.plan.recompute_layers);
  return std::string(name(s.plan.recompute));
}

/// The hosts in the order of the ranks, where each has `host` neighbouring ranks in order; or none.
std::vector<i64> whole_hosts(const std::vector<i64>& devices, i64 host) {
  std::vector<i64> hosts;
  if (host < 2 || devices.empty() || !divides(host, i64(devices.size()))) return {};
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const i64 slot = i64(rank) % host;
    if (slot == 0) hosts.push_back(devices[rank] / host);
    if (devices[rank] != hosts.back() * host + slot) return {};
  }
  return hosts;
}

std::string placement(const Setup& s) {
  const Placement& p = s.plan.placement;
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  if (p.kind == Placement::Kind::block) return "block";
  const bool around = p.host_devices == host && p.hosts == ceil_div(s.world, host);
  if (p.kind == Placement::Kind::cyclic && around) return "cyclic";
  std::vector<i64> devices = p.devices;
  if (p.kind == Placement::Kind::cyclic)  // over other hosts than the cluster's
    for (i64 rank = 0; rank < s.world; ++rank) devices.push_back(p.device(rank));
  const bool all = i64(devices.size()) == s.world;
  const std::vector<i64> hosts = all ? whole_hosts(devices, host) : std::vector<i64>{};
  constexpr std::size_t kColumn = 9;  // of the list behind "  ranks: "
  if (hosts.empty()) return "\n  ranks: " + typed(devices, kColumn);
  return "\n  hosts: " + typed(hosts, kColumn);
}

std::string model(const Setup& s) {
  if (s.reference_model && s.model.name == kReferenceModel) return "";
  const Result<Model> known = find_model(s.model.name);
  if (known && *known == s.model) return typed_text(s.model.name);
  const std::optional<Shapes> shapes = shapes_of(s.model);
  RW_CHECK(shapes.has_value());
  std::string map;
  const auto add = [&](std::string_view key, std::string_view value) {
    add_line(map, 2, key, value);
  };
  if (shapes->name != "this model") add("name", typed_text(shapes->name));  // as unnamed ones are
  add("architecture", typed_text(shapes->architecture));
  const Shapes unstated{};
  for (const ShapeField& field : shape_fields())
    if (const i64 n = (*shapes).*field.member; n != unstated.*field.member)
      add(field.name, number(n));
  if (shapes->tied) add("tied", typed(*shapes->tied));
  if (shapes->qkv_bias) add("qkv_bias", typed(*shapes->qkv_bias));
  if (shapes->out_bias) add("out_bias", typed(*shapes->out_bias));
  if (shapes->ffn_bias) add("ffn_bias", typed(*shapes->ffn_bias));
  return map;
}

/// The device's name where the catalog has it so, else a map of its figures.
std::string device(const Device& d) {
  const Result<Device> known = find_device(d.name);
  if (known && *known == d) return " " + typed_text(d.name);
  std::string map;
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) add_line(map, 4, key, typed_text(value));
  };
  const auto figure = [&](std::string_view key, auto value) {
    if (value.value > 0) add_line(map, 4, key, typed(value));
  };
  add_line(map, 4, "name", typed_text(d.name));
  text("vendor", d.vendor);
  figure("memory", d.memory);
  figure("memory_bandwidth", d.memory_bandwidth);
  figure("fp16", d.fp16);
  figure("bf16", d.bf16);
  figure("fp8", d.fp8);
  figure("fp4", d.fp4);
  text("generation", d.generation);
  if (d.multiprocessors > 0) add_line(map, 4, "multiprocessors", number(d.multiprocessors));
  if (d.watts > 0) add_line(map, 4, "watts", typed(d.watts));
  figure("best_matmul", d.best_matmul);
  add_line(map, 4, "source", typed_text(d.source));
  text("verified", d.verified);
  return map;
}

std::string level(const Level& l) {
  const Level usual{};
  std::string text = fmt::format("{{name: {}, arity: {}, bandwidth: {}", typed_text(l.name),
                                 l.arity, typed(l.bandwidth));
  const auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format(", {}: {}", key, value);
  };
  if (l.latency != usual.latency) add("latency", typed(l.latency));
  if (l.oversubscription != usual.oversubscription)
    add("oversubscription", typed(l.oversubscription));
  if (l.per == Level::Per::domain) add("per", "domain");
  if (l.origin != usual.origin) add("origin", name(l.origin));
  if (l.latency_origin != usual.latency_origin) add("latency_origin", name(l.latency_origin));
  return text + "}";
}

std::string cluster(const Setup& s) {
  const Cluster& c = s.cluster;
  const Result<Cluster> known = find_cluster(c.name);
  if (known && *known == c) return typed_text(c.name);
  std::string map;
  if (c.name != "cluster") add_line(map, 2, "name", typed_text(c.name));  // as unnamed ones are
  map += "\n  device:" + device(c.device);
  map += "\n  levels:";
  for (const Level& l : c.levels) map += "\n    - " + level(l);
  if (c.host_devices != c.levels.front().arity)
    add_line(map, 2, "host_devices", number(c.host_devices));
  return map;
}

/// What the framework does by itself.
const Software& framework(const Setup& s) {
  const std::span<const Software> all = frameworks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Software& software) {
    return software.name == s.software.name;
  });
  RW_CHECK(found != all.end());
  return *found;
}

template <auto Software::*member>
std::string kernel(const Setup& s) {
  const auto kernel = s.software.*member;
  return kernel == framework(s).*member ? "" : std::string(name(kernel));
}

/// A key, and what stands behind it: text for the same line, or lines of a map that begin with a
/// line break; nothing where the key is left out.
struct Row {
  std::string_view path;
  std::string (*value)(const Setup&);
};

// The order of import/plan_keys; a test holds it to that table.
constexpr Row kRows[] = {
    {"world_size", [](const Setup& s) { return s.world > kMaxDevices ? "" : number(s.world); }},
    {"node_shape", node_shape},
    {"parallelism.tp_size", [](const Setup& s) { return number(s.plan.tp); }},
    {"parallelism.cp_size", [](const Setup& s) { return unless(s.plan.cp, 1); }},
    {"parallelism.pp_size", [](const Setup& s) { return number(s.plan.pp); }},
    {"parallelism.dp_size", [](const Setup& s) { return number(s.plan.dp); }},
    {"parallelism.ep_size", [](const Setup& s) { return unless(s.plan.ep, 1); }},
    {"parallelism.etp_size", etp_size},
    {"parallelism.order", [](const Setup& s) { return show(s.plan.order); }},
    {"parallelism.zero_stage", [](const Setup& s) { return number(s.plan.zero); }},
    {"parallelism.shard_size", [](const Setup& s) { return unless(s.plan.shard_size, 0); }},
    {"parallelism.sequence_parallel", sequence_parallel},
    {"parallelism.cp_comm", cp_comm},
    {"parallelism.micro_batch", [](const Setup& s) { return number(s.plan.micro_batch); }},
    {"parallelism.virtual_stages", [](const Setup& s) { return unless(s.plan.virtual_stages, 1); }},
    {"parallelism.microbatch_group",
     [](const Setup& s) { return unless(s.plan.microbatch_group, 0); }},
    {"parallelism.schedule", schedule},
    {"parallelism.stages", stages},
    {"parallelism.recompute", recompute},
    {"parallelism.overlap.grad_reduce",
     [](const Setup& s) { return unless(s.plan.overlap.grad_reduce, true); }},
    {"parallelism.overlap.param_gather",
     [](const Setup& s) { return unless(s.plan.overlap.param_gather, s.plan.zero >= 1); }},
    {"parallelism.overlap.tp", [](const Setup& s) { return unless(s.plan.overlap.tp, false); }},
    {"parallelism.overlap.pp",
     [](const Setup& s) { return unless(s.plan.overlap.pp, s.plan.virtual_stages > 1); }},
    {"placement", placement},
    {"model", model},
    {"cluster", cluster},
    {"job.global_batch",
     [](const Setup& s) {
       return s.job.global_batch > kMaxBatch ? "" : number(s.job.global_batch);
     }},
    {"job.sequence", [](const Setup& s) { return number(s.job.sequence); }},
    {"job.param_dtype", [](const Setup& s) { return std::string(name(s.job.param_dtype)); }},
    {"job.grad_dtype", [](const Setup& s) { return std::string(name(s.job.grad_dtype)); }},
    {"job.matmul",
     [](const Setup& s) {
       return s.job.matmul == Matmul::same ? "" : std::string(name(s.job.matmul));
     }},
    {"job.optimizer", [](const Setup& s) { return std::string(name(s.job.optimizer)); }},
    {"software.framework", [](const Setup& s) { return std::string(framework(s).name); }},
    {"software.attention", kernel<&Software::attention>},
    {"software.launch", kernel<&Software::launch>},
    {"software.loss", kernel<&Software::loss>},
    {"software.tuned", [](const Setup& s) { return unless(s.software.tuned, framework(s).tuned); }},
};

/// "    tp: true" and its remark; a map's lines follow behind the remark.
std::string key_line(std::string_view path, std::string_view value, const PlanComments& comments) {
  const std::ptrdiff_t depth = std::count(path.begin(), path.end(), '.');
  const std::size_t first = std::min(value.find('\n'), value.size());
  std::string text = std::string(std::size_t(2 * depth), ' ');
  text += path.substr(path.rfind('.') + 1);  // npos + 1 is 0
  text += ":";
  if (first > 0) text += " ";
  text += value.substr(0, first);
  for (const KeyComment& comment : comments.beside)
    if (comment.key == path) text += "  # " + typed_comment(comment.text);
  text += value.substr(first);
  return text + "\n";
}

/// The maps around `path` that the key before it did not stand in.
std::string opened(std::string_view path, std::string_view before, const PlanComments& comments) {
  std::string text;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1))
    if (!before.starts_with(path.substr(0, dot + 1)))
      text += key_line(path.substr(0, dot), "", comments);
  return text;
}

}  // namespace

std::string plan_yaml(const Setup& setup, const PlanComments& comments) {
  std::string text;
  for (const std::string& line : comments.head)
    text += (line.empty() ? "#" : "# " + typed_comment(line)) + "\n";
  std::string_view before;
  for (const Row& row : kRows) {
    const std::string value = row.value(setup);
    if (value.empty()) continue;
    text += opened(row.path, before, comments) + key_line(row.path, value, comments);
    before = row.path;
  }
  return text;
}

}  // namespace rankwright
