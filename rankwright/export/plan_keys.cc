#include "rankwright/export/plan_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/export/cluster_file.h"
#include "rankwright/export/model_file.h"
#include "rankwright/export/typed.h"
#include "rankwright/import/plan/draft.h"

namespace rankwright::exporter {
namespace {

std::string number(i64 n) { return std::to_string(n); }

bool has_shape(const plan::TrainingConfig& s) {
  constexpr i64 kMaxGpus = 4096;  // limit of the key node_shape
  const i64 gpus = s.cluster.host_devices;
  return divides(gpus, s.world) && gpus <= kMaxGpus && s.world <= cluster::kMaxDevices;
}

std::string node_shape(const plan::TrainingConfig& s) {
  const i64 gpus = s.cluster.host_devices, nodes = s.world / gpus;
  return fmt::format("{}_node{}_x_{}_gpu{}", nodes, nodes == 1 ? "" : "s", gpus,
                     gpus == 1 ? "" : "s");
}

template <i64 plan::Plan::*member>
std::string degree(const plan::TrainingConfig& s) {
  return number(s.plan.*member);
}
template <i64 plan::Plan::*member>
bool not_one(const plan::TrainingConfig& s) {
  return s.plan.*member != 1;
}

/// Returns "-" for dense models: there etp has no effect.
std::string etp_size(const plan::TrainingConfig& s) {
  return s.model.sparse() ? number(s.plan.etp) : "-";
}

std::string shard_size(const plan::TrainingConfig& s) {
  return s.plan.shard_size == 0 ? "all" : number(s.plan.shard_size);
}

std::string bucket_size(const plan::TrainingConfig& s) {
  return s.plan.bucket_size == 0 ? "default" : number(s.plan.bucket_size);
}

std::string microbatch_group(const plan::TrainingConfig& s) {
  return s.plan.microbatch_group == 0 ? "pp_size" : number(s.plan.microbatch_group);
}

bool says_schedule(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const pipeline::Schedule usual = pipeline::default_schedule(p.virtual_stages);
  return p.pp > 1 || p.schedule != usual;
}

std::string stages(const plan::TrainingConfig& s) {
  return s.plan.stages.empty() ? "even" : write_yaml_text(show_layout(s.plan.stages));
}

std::string recompute(const plan::TrainingConfig& s) {
  const bool partly = s.plan.recompute == plan::Recompute::full && s.plan.recompute_layers > 0;
  if (partly) return fmt::format("{{full: {}}}", s.plan.recompute_layers);
  if (s.plan.recompute == plan::Recompute::selective && s.plan.modules != plan::RecomputeModules{})
    return fmt::format("{{modules: [{}]}}", show(s.plan.modules, ", "));
  return std::string(name(s.plan.recompute));
}

template <bool plan::Overlap::*member>
std::string overlap(const plan::TrainingConfig& s) {
  return write_yaml_value(s.plan.overlap.*member);
}

template <auto plan::Job::*member>
std::string job(const plan::TrainingConfig& s) {
  return std::string(name(s.job.*member));
}

std::string lora_rank(const plan::TrainingConfig& s) {
  return s.job.frozen() ? number(s.job.lora_rank) : "none";
}

std::string lora_modules(const plan::TrainingConfig& s) {
  if (s.job.lora_modules == plan::LoraModules{}) return "all";
  return fmt::format("[{}]", show(s.job.lora_modules, ", "));
}

std::string frozen(const plan::TrainingConfig& s) {
  return fmt::format("[{}]", show(s.model.frozen));
}

/// Returns the hosts in rank order if each has `host` consecutive ranks in device order, else an
/// empty list.
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

std::string placement(const plan::TrainingConfig& s) {
  const mesh::Placement& p = s.plan.placement;
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  if (p.kind == mesh::Placement::Kind::block) return "block";
  const bool around = p.host_devices == host && p.hosts == ceil_div(s.world, host);
  if (p.kind == mesh::Placement::Kind::cyclic && around) return "cyclic";
  std::vector<i64> devices = p.devices;
  if (p.kind == mesh::Placement::Kind::cyclic)  // over other hosts than the cluster's
    for (i64 rank = 0; rank < s.world; ++rank) devices.push_back(p.device(rank));
  const bool all = i64(devices.size()) == s.world;
  const std::vector<i64> hosts = all ? whole_hosts(devices, host) : std::vector<i64>{};
  constexpr std::size_t kColumn = 9;  // of the list after "  ranks: "
  if (hosts.empty()) return "\n  ranks: " + write_yaml_value(devices, kColumn);
  return "\n  hosts: " + write_yaml_value(hosts, kColumn);
}

std::string model(const plan::TrainingConfig& s) {
  const Result<model::Model> known = catalog::find_model(s.model.name);
  model::Model whole = s.model;
  if (whole.frozen.any()) freeze(whole, {});
  if (known && *known == whole) return write_yaml_text(s.model.name);
  return write_model_map(s.model, 2);
}

std::string cluster(const plan::TrainingConfig& s) {
  const Result<cluster::Cluster> known = catalog::find_cluster(s.cluster.name);
  if (known && *known == s.cluster) return write_yaml_text(s.cluster.name);
  return write_cluster_map(s.cluster, 2);
}

/// Returns the framework's row of defaults, in its release.
plan::Software find_framework(const plan::TrainingConfig& s) {
  const std::span<const plan::Software> all = plan::frameworks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const plan::Software& software) {
    return software.name == s.software.name;
  });
  RW_CHECK(found != all.end());
  return s.software.release.empty() ? *found
                                    : find_release(*found, s.software.release).value_or(*found);
}

std::string target(const plan::TrainingConfig& s) {
  return s.target.empty() ? "any" : std::string(s.target);
}

template <auto plan::Software::*member>
std::string kernel(const plan::TrainingConfig& s) {
  return std::string(name(s.software.*member));
}
template <auto plan::Software::*member>
bool other_kernel(const plan::TrainingConfig& s) {
  return s.software.*member != find_framework(s).*member;
}

// In the order of import/plan_keys; a test checks it.
constexpr ConfigKey kRows[] = {
    {"world_size", [](const plan::TrainingConfig& s) { return number(s.world); },
     [](const plan::TrainingConfig& s) { return s.world <= cluster::kMaxDevices; }},
    {"node_shape", node_shape, has_shape},
    {"parallelism.tp_size", degree<&plan::Plan::tp>},
    {"parallelism.cp_size", degree<&plan::Plan::cp>, not_one<&plan::Plan::cp>},
    {"parallelism.pp_size", degree<&plan::Plan::pp>},
    {"parallelism.dp_size", degree<&plan::Plan::dp>},
    {"parallelism.ep_size", degree<&plan::Plan::ep>, not_one<&plan::Plan::ep>},
    {"parallelism.etp_size", etp_size,
     [](const plan::TrainingConfig& s) {
       return s.model.sparse() && (s.plan.tp > 1 || s.plan.etp > 1);
     }},
    {"parallelism.order", [](const plan::TrainingConfig& s) { return show(s.plan.order); }},
    {"parallelism.zero_stage", [](const plan::TrainingConfig& s) { return number(s.plan.zero); }},
    {"parallelism.shard_size", shard_size,
     [](const plan::TrainingConfig& s) { return s.plan.shard_size != 0; }},
    {"parallelism.bucket_size", bucket_size,
     [](const plan::TrainingConfig& s) { return s.plan.bucket_size != 0; }},
    {"parallelism.sequence_parallel",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.plan.sequence_parallel); },
     [](const plan::TrainingConfig& s) { return s.plan.tp > 1 || s.plan.sequence_parallel; }},
    {"parallelism.cp_comm",
     [](const plan::TrainingConfig& s) { return std::string(name(s.plan.cp_comm)); },
     [](const plan::TrainingConfig& s) {
       return s.plan.cp > 1 || s.plan.cp_comm != plan::CpComm::p2p;
     }},
    {"parallelism.dispatcher",
     [](const plan::TrainingConfig& s) { return std::string(name(s.plan.dispatcher)); },
     [](const plan::TrainingConfig& s) { return s.plan.dispatcher != plan::Dispatcher::alltoall; }},
    {"parallelism.micro_batch", degree<&plan::Plan::micro_batch>},
    {"parallelism.virtual_stages", degree<&plan::Plan::virtual_stages>,
     not_one<&plan::Plan::virtual_stages>},
    {"parallelism.microbatch_group", microbatch_group,
     [](const plan::TrainingConfig& s) { return s.plan.microbatch_group != 0; }},
    {"parallelism.schedule",
     [](const plan::TrainingConfig& s) { return std::string(name(s.plan.schedule)); },
     says_schedule},
    {"parallelism.stages", stages,
     [](const plan::TrainingConfig& s) { return !s.plan.stages.empty(); }},
    {"parallelism.recompute", recompute},
    {"parallelism.overlap.grad_reduce", overlap<&plan::Overlap::grad_reduce>,
     [](const plan::TrainingConfig& s) { return !s.plan.overlap.grad_reduce; }},
    {"parallelism.overlap.param_gather", overlap<&plan::Overlap::param_gather>,
     [](const plan::TrainingConfig& s) {
       return s.plan.overlap.param_gather != (s.plan.zero >= 1);
     }},
    {"parallelism.overlap.tp", overlap<&plan::Overlap::tp>,
     [](const plan::TrainingConfig& s) { return s.plan.overlap.tp; }},
    {"parallelism.overlap.pp", overlap<&plan::Overlap::pp>,
     [](const plan::TrainingConfig& s) {
       return s.plan.overlap.pp != (s.plan.virtual_stages > 1);
     }},
    {"parallelism.overlap.ep", overlap<&plan::Overlap::ep>,
     [](const plan::TrainingConfig& s) { return s.plan.overlap.ep; }},
    {"parallelism.overlap.wgrad", overlap<&plan::Overlap::wgrad>,
     [](const plan::TrainingConfig& s) { return s.plan.overlap.wgrad; }},
    {"parallelism.offload.optimizer",
     [](const plan::TrainingConfig& s) { return fmt::format("{}", s.plan.offload.optimizer); },
     [](const plan::TrainingConfig& s) { return s.plan.offload.optimizer > 0; }},
    {"parallelism.offload.parameters",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.plan.offload.parameters); },
     [](const plan::TrainingConfig& s) { return s.plan.offload.parameters; }},
    {"parallelism.offload.activations",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.plan.offload.activations); },
     [](const plan::TrainingConfig& s) { return s.plan.offload.activations; }},
    {"parallelism.offload.nvme",
     [](const plan::TrainingConfig& s) { return std::string(name(s.plan.offload.nvme)); },
     [](const plan::TrainingConfig& s) { return s.plan.offload.nvme != plan::NvmeStates::none; }},
    {"parallelism.offload.nvme_path",
     [](const plan::TrainingConfig& s) { return write_yaml_text(s.plan.offload.nvme_path); },
     [](const plan::TrainingConfig& s) { return !s.plan.offload.nvme_path.empty(); }},
    {"placement", placement},
    {"model", model,
     [](const plan::TrainingConfig& s) {
       return !s.reference_model || s.model.name != importer::kReferenceModel;
     }},
    {"cluster", cluster},
    {"job.global_batch", [](const plan::TrainingConfig& s) { return number(s.job.global_batch); },
     [](const plan::TrainingConfig& s) { return s.job.global_batch <= plan::kMaxBatch; }},
    {"job.sequence", [](const plan::TrainingConfig& s) { return number(s.job.sequence); }},
    {"job.doc_length",
     [](const plan::TrainingConfig& s) {
       return s.job.doc_length > 0 ? number(s.job.doc_length) : std::string("none");
     },
     [](const plan::TrainingConfig& s) { return s.job.doc_length > 0; }},
    {"job.loss_tokens", [](const plan::TrainingConfig& s) { return number(s.job.loss_tokens); },
     [](const plan::TrainingConfig& s) { return s.job.loss_fraction() < 1; }},
    {"job.images", [](const plan::TrainingConfig& s) { return number(s.job.images); },
     [](const plan::TrainingConfig& s) { return s.job.images > 0 && !s.model.encoder.audio; }},
    {"job.clips", [](const plan::TrainingConfig& s) { return number(s.job.images); },
     [](const plan::TrainingConfig& s) { return s.job.images > 0 && s.model.encoder.audio; }},
    {"job.image_tokens", [](const plan::TrainingConfig& s) { return number(s.job.image_tokens); },
     [](const plan::TrainingConfig& s) { return s.job.image_tokens > 0; }},
    {"job.method", job<&plan::Job::method>,
     [](const plan::TrainingConfig& s) { return s.job.method != plan::Method::lm; }},
    {"job.ref_model",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.job.ref_model); },
     [](const plan::TrainingConfig& s) { return s.job.ref_model != row(s.job.method).reference; }},
    {"job.param_dtype", job<&plan::Job::param_dtype>},
    {"job.grad_dtype", job<&plan::Job::grad_dtype>},
    {"job.matmul", job<&plan::Job::matmul>,
     [](const plan::TrainingConfig& s) { return s.job.matmul != plan::Matmul::same; }},
    {"job.fp8_swiglu_input",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.job.fp8_swiglu_input); },
     [](const plan::TrainingConfig& s) { return s.job.fp8_swiglu_input; }},
    {"job.optimizer", job<&plan::Job::optimizer>},
    {"job.moment_dtype", job<&plan::Job::moment_dtype>,
     [](const plan::TrainingConfig& s) { return s.job.moment_dtype != plan::Dtype::fp32; }},
    {"job.master_dtype", job<&plan::Job::master_dtype>,
     [](const plan::TrainingConfig& s) { return s.job.master_dtype != plan::Dtype::fp32; }},
    {"job.lora_rank", lora_rank, [](const plan::TrainingConfig& s) { return s.job.frozen(); }},
    {"job.lora_modules", lora_modules,
     [](const plan::TrainingConfig& s) { return s.job.lora_modules != plan::LoraModules{}; }},
    {"job.base_dtype", job<&plan::Job::base_dtype>,
     [](const plan::TrainingConfig& s) { return s.job.base_dtype != plan::BaseDtype::same; }},
    {"job.frozen", frozen, [](const plan::TrainingConfig& s) { return s.model.frozen.any(); }},
    {"job.expert_imbalance",
     [](const plan::TrainingConfig& s) { return fmt::format("{}", s.job.expert_imbalance); },
     [](const plan::TrainingConfig& s) { return s.job.expert_imbalance > 0; }},
    {"job.expert_capacity",
     [](const plan::TrainingConfig& s) { return fmt::format("{}", s.job.expert_capacity); },
     [](const plan::TrainingConfig& s) { return s.job.expert_capacity > 0; }},
    {"software.framework",
     [](const plan::TrainingConfig& s) { return std::string(s.software.name); }},
    {"software.release",
     [](const plan::TrainingConfig& s) { return write_yaml_text(s.software.release); },
     [](const plan::TrainingConfig& s) { return !s.software.release.empty(); }},
    {"software.target", target, [](const plan::TrainingConfig& s) { return !s.target.empty(); }},
    {"software.attention", kernel<&plan::Software::attention>,
     other_kernel<&plan::Software::attention>},
    {"software.launch", kernel<&plan::Software::launch>, other_kernel<&plan::Software::launch>},
    {"software.expert_kernel", kernel<&plan::Software::experts>,
     other_kernel<&plan::Software::experts>},
    {"software.fused_permute",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.software.fused_permute); },
     other_kernel<&plan::Software::fused_permute>},
    {"software.compile",
     [](const plan::TrainingConfig& s) { return write_yaml_value(!s.software.eager_ops); },
     other_kernel<&plan::Software::eager_ops>},
    {"software.sync_each_batch",
     [](const plan::TrainingConfig&
            s) { return write_yaml_value(s.software.accumulation == plan::Accumulation::shards); },
     other_kernel<&plan::Software::accumulation>},
    {"software.loss", kernel<&plan::Software::loss>,
     [](const plan::TrainingConfig&
            s) { return s.software.loss != default_loss(find_framework(s), s.job.method); }},
    {"software.tuned",
     [](const plan::TrainingConfig& s) { return write_yaml_value(s.software.tuned); },
     other_kernel<&plan::Software::tuned>},
};

}  // namespace

std::span<const ConfigKey> config_keys() { return kRows; }

}  // namespace rankwright::exporter
