#include "rankwright/report/setup_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/model/parameters.h"

namespace rankwright {
namespace {

std::string flag(bool on) { return on ? "true" : "false"; }

template <i64 Plan::*member>
std::string number(const Setup& s) {
  return count(s.plan.*member);
}

template <bool Overlap::*member>
std::string overlap(const Setup& s) {
  return flag(s.plan.overlap.*member);
}

/// A dense layer's "experts" are cut as the layer is, whatever a file says.
std::string expert_tensor(const Setup& s) { return s.model.sparse() ? count(s.plan.etp) : "-"; }

std::string microbatch_group(const Setup& s) {
  return s.plan.microbatch_group == 0 ? "pp_size" : count(s.plan.microbatch_group);
}

std::string shard_size(const Setup& s) {
  return s.plan.shard_size == 0 ? "all" : count(s.plan.shard_size);
}

std::string stages(const Setup& s) {
  return s.plan.stages.empty() ? "even" : show_layout(s.plan.stages);
}

bool same_stages(const Setup& a, const Setup& b) {
  return (a.plan.stages.empty() && b.plan.stages.empty()) || a.stages() == b.stages();
}

std::string recompute(const Setup& s) {
  if (s.plan.recompute == Recompute::full && s.plan.recompute_layers > 0)
    return fmt::format("{{full: {}}}", count(s.plan.recompute_layers));
  return std::string(name(s.plan.recompute));
}

std::string placement(const Setup& s) {
  switch (s.plan.placement.kind) {
    case Placement::Kind::block:
      return "block";
    case Placement::Kind::cyclic:
      return "cyclic";
    case Placement::Kind::listed:
      break;
  }
  constexpr std::size_t kShown = 8;
  const std::vector<i64>& devices = s.plan.placement.devices;
  std::string list;
  for (std::size_t r = 0; r < std::min(kShown, devices.size()); ++r)
    list += (r == 0 ? "" : ", ") + std::to_string(devices[r]);
  return fmt::format("{{ranks: [{}{}]}}", list, devices.size() > kShown ? ", ..." : "");
}

bool same_placement(const Setup& a, const Setup& b) {
  // How many hosts a cyclic one goes round follows from the cluster.
  return a.plan.placement.kind == b.plan.placement.kind &&
         a.plan.placement.devices == b.plan.placement.devices;
}

std::string model(const Setup& s) { return s.model.name; }

std::string model_details(const Setup& s) {
  return fmt::format("{}: {}, hidden {}, vocabulary {}, {} parameters", s.model.name,
                     plural(s.model.layers(), "layer", "layers"), count(s.model.hidden),
                     count(s.model.vocab), short_count(double(parameters(s.model).total())));
}

std::string cluster_details(const Setup& s) {
  std::string text = s.cluster.device.name;
  for (const Level& level : s.cluster.levels)
    text += fmt::format(", {} of {} at {}", level.name, count(level.arity), show(level.bandwidth));
  return text;
}

/// A file's cluster that has no name is called "cluster", which says nothing.
std::string cluster(const Setup& s) {
  return s.cluster.name == "cluster" ? cluster_details(s) : s.cluster.name;
}

// One row a key, in the order of plan_keys.cc.
constexpr SetupKey kRows[] = {
    {"world_size", [](const Setup& s) { return count(s.world); }},
    {"parallelism.tp_size", number<&Plan::tp>},
    {"parallelism.cp_size", number<&Plan::cp>},
    {"parallelism.pp_size", number<&Plan::pp>},
    {"parallelism.dp_size", number<&Plan::dp>},
    {"parallelism.ep_size", number<&Plan::ep>},
    {"parallelism.etp_size", expert_tensor},
    {"parallelism.order", [](const Setup& s) { return show(s.plan.order); }},
    {"parallelism.zero_stage", [](const Setup& s) { return std::to_string(s.plan.zero); }},
    {"parallelism.shard_size", shard_size},
    {"parallelism.sequence_parallel",
     [](const Setup& s) { return flag(s.plan.sequence_parallel); }},
    {"parallelism.cp_comm", [](const Setup& s) { return std::string(name(s.plan.cp_comm)); }},
    {"parallelism.micro_batch", number<&Plan::micro_batch>},
    {"parallelism.virtual_stages", number<&Plan::virtual_stages>},
    {"parallelism.microbatch_group", microbatch_group},
    {"parallelism.schedule", [](const Setup& s) { return std::string(name(s.plan.schedule)); }},
    {"parallelism.stages", stages, same_stages},
    {"parallelism.recompute", recompute},
    {"parallelism.overlap.grad_reduce", overlap<&Overlap::grad_reduce>},
    {"parallelism.overlap.param_gather", overlap<&Overlap::param_gather>},
    {"parallelism.overlap.tp", overlap<&Overlap::tp>},
    {"parallelism.overlap.pp", overlap<&Overlap::pp>},
    {"placement", placement, same_placement},
    {"model", model, [](const Setup& a, const Setup& b) { return a.model == b.model; },
     model_details},
    {"cluster", cluster, [](const Setup& a, const Setup& b) { return a.cluster == b.cluster; },
     cluster_details},
    {"job.global_batch", [](const Setup& s) { return count(s.job.global_batch); }},
    {"job.sequence", [](const Setup& s) { return count(s.job.sequence); }},
    {"job.param_dtype", [](const Setup& s) { return std::string(name(s.job.param_dtype)); }},
    {"job.grad_dtype", [](const Setup& s) { return std::string(name(s.job.grad_dtype)); }},
    {"job.matmul", [](const Setup& s) { return std::string(name(s.job.matmul)); }},
    {"job.optimizer", [](const Setup& s) { return std::string(name(s.job.optimizer)); }},
    {"software.framework", [](const Setup& s) { return std::string(s.software.name); }},
    {"software.attention", [](const Setup& s) { return std::string(name(s.software.attention)); }},
    {"software.launch", [](const Setup& s) { return std::string(name(s.software.launch)); }},
    {"software.loss", [](const Setup& s) { return std::string(name(s.software.loss)); }},
    {"software.tuned", [](const Setup& s) { return flag(s.software.tuned); }},
};

}  // namespace

std::span<const SetupKey> setup_keys() { return kRows; }

std::vector<KeyDifference> key_differences(const Setup& a, const Setup& b) {
  std::vector<KeyDifference> all;
  for (const SetupKey& row : kRows) {
    KeyDifference d{.key = row.path,
                    .a = row.value(a),
                    .b = row.value(b),
                    .a_assumed = a.left_open(row.path),
                    .b_assumed = b.left_open(row.path)};
    if (row.alike != nullptr ? row.alike(a, b) : d.a == d.b) continue;
    if (d.a == d.b && row.details != nullptr) d.a = row.details(a), d.b = row.details(b);
    if (d.a == d.b) d.b += ", but not alike";
    all.push_back(std::move(d));
  }
  return all;
}

}  // namespace rankwright
