#include "rankwright/export/plan_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/export/cluster_file.h"
#include "rankwright/export/model_file.h"
#include "rankwright/export/typed.h"
#include "rankwright/import/plan/draft.h"

namespace rankwright {
namespace {

std::string number(i64 n) { return std::to_string(n); }

bool has_shape(const TrainingConfig& s) {
  constexpr i64 kMaxGpus = 4096;  // that the key takes
  const i64 gpus = s.cluster.host_devices;
  return divides(gpus, s.world) && gpus <= kMaxGpus && s.world <= kMaxDevices;
}

std::string node_shape(const TrainingConfig& s) {
  const i64 gpus = s.cluster.host_devices, nodes = s.world / gpus;
  return fmt::format("{}_node{}_x_{}_gpu{}", nodes, nodes == 1 ? "" : "s", gpus,
                     gpus == 1 ? "" : "s");
}

template <i64 Plan::*member>
std::string degree(const TrainingConfig& s) {
  return number(s.plan.*member);
}
template <i64 Plan::*member>
bool not_one(const TrainingConfig& s) {
  return s.plan.*member != 1;
}

/// A dense layer's "experts" are cut as the layer is, whatever a file says.
std::string etp_size(const TrainingConfig& s) {
  return s.model.sparse() ? number(s.plan.etp) : "-";
}

std::string shard_size(const TrainingConfig& s) {
  return s.plan.shard_size == 0 ? "all" : number(s.plan.shard_size);
}

std::string bucket_size(const TrainingConfig& s) {
  return s.plan.bucket_size == 0 ? "default" : number(s.plan.bucket_size);
}

std::string microbatch_group(const TrainingConfig& s) {
  return s.plan.microbatch_group == 0 ? "pp_size" : number(s.plan.microbatch_group);
}

bool says_schedule(const TrainingConfig& s) {
  const Plan& p = s.plan;
  const Schedule usual = p.virtual_stages > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  return p.pp > 1 || p.schedule != usual;
}

std::string stages(const TrainingConfig& s) {
  return s.plan.stages.empty() ? "even" : typed_text(show_layout(s.plan.stages));
}

std::string recompute(const TrainingConfig& s) {
  const bool partly = s.plan.recompute == Recompute::full && s.plan.recompute_layers > 0;
  if (partly) return fmt::format("{{full: {}}}", s.plan.recompute_layers);
  return std::string(name(s.plan.recompute));
}

template <bool Overlap::*member>
std::string overlap(const TrainingConfig& s) {
  return typed(s.plan.overlap.*member);
}

template <auto Job::*member>
std::string job(const TrainingConfig& s) {
  return std::string(name(s.job.*member));
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

std::string placement(const TrainingConfig& s) {
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

std::string model(const TrainingConfig& s) {
  const Result<Model> known = find_model(s.model.name);
  if (known && *known == s.model) return typed_text(s.model.name);
  return model_map(s.model, 2);
}

std::string cluster(const TrainingConfig& s) {
  const Result<Cluster> known = find_cluster(s.cluster.name);
  if (known && *known == s.cluster) return typed_text(s.cluster.name);
  return cluster_map(s.cluster, 2);
}

/// What the framework does by itself.
const Software& framework(const TrainingConfig& s) {
  const std::span<const Software> all = frameworks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Software& software) {
    return software.name == s.software.name;
  });
  RW_CHECK(found != all.end());
  return *found;
}

template <auto Software::*member>
std::string kernel(const TrainingConfig& s) {
  return std::string(name(s.software.*member));
}
template <auto Software::*member>
bool other_kernel(const TrainingConfig& s) {
  return s.software.*member != framework(s).*member;
}

// The order of import/plan_keys; a test holds it to that table.
constexpr ConfigKey kRows[] = {
    {"world_size", [](const TrainingConfig& s) { return number(s.world); },
     [](const TrainingConfig& s) { return s.world <= kMaxDevices; }},
    {"node_shape", node_shape, has_shape},
    {"parallelism.tp_size", degree<&Plan::tp>},
    {"parallelism.cp_size", degree<&Plan::cp>, not_one<&Plan::cp>},
    {"parallelism.pp_size", degree<&Plan::pp>},
    {"parallelism.dp_size", degree<&Plan::dp>},
    {"parallelism.ep_size", degree<&Plan::ep>, not_one<&Plan::ep>},
    {"parallelism.etp_size", etp_size,
     [](const TrainingConfig& s) { return s.model.sparse() && (s.plan.tp > 1 || s.plan.etp > 1); }},
    {"parallelism.order", [](const TrainingConfig& s) { return show(s.plan.order); }},
    {"parallelism.zero_stage", [](const TrainingConfig& s) { return number(s.plan.zero); }},
    {"parallelism.shard_size", shard_size,
     [](const TrainingConfig& s) { return s.plan.shard_size != 0; }},
    {"parallelism.bucket_size", bucket_size,
     [](const TrainingConfig& s) { return s.plan.bucket_size != 0; }},
    {"parallelism.sequence_parallel",
     [](const TrainingConfig& s) { return typed(s.plan.sequence_parallel); },
     [](const TrainingConfig& s) { return s.plan.tp > 1 || s.plan.sequence_parallel; }},
    {"parallelism.cp_comm",
     [](const TrainingConfig& s) { return std::string(name(s.plan.cp_comm)); },
     [](const TrainingConfig& s) { return s.plan.cp > 1 || s.plan.cp_comm != CpComm::p2p; }},
    {"parallelism.micro_batch", degree<&Plan::micro_batch>},
    {"parallelism.virtual_stages", degree<&Plan::virtual_stages>, not_one<&Plan::virtual_stages>},
    {"parallelism.microbatch_group", microbatch_group,
     [](const TrainingConfig& s) { return s.plan.microbatch_group != 0; }},
    {"parallelism.schedule",
     [](const TrainingConfig& s) { return std::string(name(s.plan.schedule)); }, says_schedule},
    {"parallelism.stages", stages, [](const TrainingConfig& s) { return !s.plan.stages.empty(); }},
    {"parallelism.recompute", recompute},
    {"parallelism.overlap.grad_reduce", overlap<&Overlap::grad_reduce>,
     [](const TrainingConfig& s) { return !s.plan.overlap.grad_reduce; }},
    {"parallelism.overlap.param_gather", overlap<&Overlap::param_gather>,
     [](const TrainingConfig& s) { return s.plan.overlap.param_gather != (s.plan.zero >= 1); }},
    {"parallelism.overlap.tp", overlap<&Overlap::tp>,
     [](const TrainingConfig& s) { return s.plan.overlap.tp; }},
    {"parallelism.overlap.pp", overlap<&Overlap::pp>,
     [](const TrainingConfig& s) { return s.plan.overlap.pp != (s.plan.virtual_stages > 1); }},
    {"placement", placement},
    {"model", model,
     [](const TrainingConfig& s) { return !s.reference_model || s.model.name != kReferenceModel; }},
    {"cluster", cluster},
    {"job.global_batch", [](const TrainingConfig& s) { return number(s.job.global_batch); },
     [](const TrainingConfig& s) { return s.job.global_batch <= kMaxBatch; }},
    {"job.sequence", [](const TrainingConfig& s) { return number(s.job.sequence); }},
    {"job.param_dtype", job<&Job::param_dtype>},
    {"job.grad_dtype", job<&Job::grad_dtype>},
    {"job.matmul", job<&Job::matmul>,
     [](const TrainingConfig& s) { return s.job.matmul != Matmul::same; }},
    {"job.optimizer", job<&Job::optimizer>},
    {"software.framework", [](const TrainingConfig& s) { return std::string(s.software.name); }},
    {"software.attention", kernel<&Software::attention>, other_kernel<&Software::attention>},
    {"software.launch", kernel<&Software::launch>, other_kernel<&Software::launch>},
    {"software.loss", kernel<&Software::loss>, other_kernel<&Software::loss>},
    {"software.tuned", [](const TrainingConfig& s) { return typed(s.software.tuned); },
     other_kernel<&Software::tuned>},
};

}  // namespace

std::span<const ConfigKey> setup_keys() { return kRows; }

}  // namespace rankwright
