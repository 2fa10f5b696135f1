#include "rankwright/planner/plan/plan_defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {
namespace {

/// Returns the draft without its plan.
importer::Draft without_plan(const importer::Draft& d) {
  importer::Draft bare;
  bare.world = d.world;
  bare.shape = d.shape;
  bare.overlap_grad = d.overlap_grad;
  bare.overlap_tp = d.overlap_tp;
  bare.overlap_pp = d.overlap_pp;
  bare.overlap_ep = d.overlap_ep;
  bare.overlap_wgrad = d.overlap_wgrad;
  bare.dispatcher = d.dispatcher;
  bare.offload_optimizer = d.offload_optimizer;
  bare.offload_parameters = d.offload_parameters;
  bare.offload_activations = d.offload_activations;
  bare.offload_nvme = d.offload_nvme;
  bare.nvme_path = d.nvme_path;
  bare.model = d.model;
  bare.cluster = d.cluster;
  bare.global_batch = d.global_batch;
  bare.sequence = d.sequence;
  bare.doc_length = d.doc_length;
  bare.loss_tokens = d.loss_tokens;
  bare.images = d.images;
  bare.image_tokens = d.image_tokens;
  bare.method = d.method;
  bare.ref_model = d.ref_model;
  bare.param_dtype = d.param_dtype;
  bare.grad_dtype = d.grad_dtype;
  bare.matmul = d.matmul;
  bare.fp8_swiglu_input = d.fp8_swiglu_input;
  bare.optimizer = d.optimizer;
  bare.moment_dtype = d.moment_dtype;
  bare.master_dtype = d.master_dtype;
  bare.lora_rank = d.lora_rank;
  bare.lora_modules = d.lora_modules;
  bare.base_dtype = d.base_dtype;
  bare.frozen = d.frozen;
  bare.expert_imbalance = d.expert_imbalance;
  bare.expert_capacity = d.expert_capacity;
  bare.target = d.target;
  bare.framework = d.framework;
  bare.release = d.release;
  bare.attention = d.attention;
  bare.launch = d.launch;
  bare.expert_kernel = d.expert_kernel;
  bare.fused_permute = d.fused_permute;
  bare.compile = d.compile;
  bare.sync_each_batch = d.sync_each_batch;
  bare.loss = d.loss;
  bare.tuned = d.tuned;
  return bare;
}

/// Uses the target's framework if the draft names none.
void follow_target(importer::Draft& draft, rules::Target target,
                   std::vector<plan::Assumption>& assumed) {
  const bool stated = draft.target.has_value();
  draft.target = target;
  if (target == rules::Target::any) return;
  if (!stated)
    assumed.push_back({"software.target", std::string(row(target).name),
                       "--for any also searches layouts that it does not run"});
  if (draft.framework) return;
  draft.framework = importer::find_software(target);
  if (draft.framework)
    assumed.push_back({"software.framework", std::string(draft.framework->name), "as the target"});
}

}  // namespace

rules::Target choose_search_target(std::optional<rules::Target> stated,
                                   const importer::PlanFile& file) {
  if (stated || file.draft.target) return choose_target(stated, file);
  if (const rules::Target own = choose_target({}, file); own != rules::Target::any) return own;
  if (file.draft.framework) return rules::find_target_of(file.draft.framework->name);
  const bool cpu = file.draft.cluster && file.draft.cluster->device.cpu();
  if (cpu) return rules::Target::rankwright;
  const bool fine_tunes = file.draft.lora_rank || file.draft.frozen ||
                          file.draft.method.value_or(plan::Method::lm) != plan::Method::lm;
  return fine_tunes ? rules::Target::accelerate : rules::Target::megatron;
}

plan::TrainingConfig resolve_job(const importer::Draft& stated, rules::Target target,
                                 std::optional<i64> world) {
  importer::Draft draft = without_plan(stated);
  // A batch that is stated by its factors is the batch of the file's own plan.
  if (!draft.global_batch && stated.accumulation)
    draft.global_batch = resolve(stated).job.global_batch;
  std::vector<plan::Assumption> noted;
  follow_target(draft, target, noted);
  if (world) {
    draft.world = world;
    draft.shape.reset();
  }
  const bool open = !draft.global_batch.has_value();
  if (open) draft.global_batch = 1;
  plan::TrainingConfig config = resolve(draft);
  if (open) {
    const plan::Offload offload = config.plan.offload;
    config.plan = {};  // what is assumed must not depend on it
    config.plan.offload = offload;
    config.job.global_batch = assume_global_batch(config).value_or(kMaxCount);
    noted.push_back({"job.global_batch", std::to_string(config.job.global_batch),
                     importer::explain_batch(config.job.global_batch, config.job.sequence)});
  }
  config.assumed.insert(config.assumed.begin(), noted.begin(), noted.end());
  return config;
}

search::Problem open_problem(plan::TrainingConfig config, const importer::Draft& stated,
                             const search::Limits& limits) {
  std::erase_if(config.assumed, [](const plan::Assumption& a) {
    return a.key.starts_with("parallelism.");  // these are searched
  });
  const plan::Offload offload = config.plan.offload;
  config.plan = {};
  config.plan.offload = offload;
  // The frameworks' defaults if nothing is stated, as in import/draft.
  config.plan.overlap = {.grad_reduce = stated.overlap_grad.value_or(true),
                         .param_gather = stated.overlap_param.value_or(true),
                         .tp = stated.overlap_tp.value_or(false),
                         .pp = stated.overlap_pp.value_or(false),
                         .ep = stated.overlap_ep.value_or(false),
                         .wgrad = stated.overlap_wgrad.value_or(false)};
  config.plan.dispatcher = stated.dispatcher.value_or(plan::Dispatcher::alltoall);
  // HybridEP is used only if stated: it is a branch of a package that few have installed.
  const bool per_node = !stated.dispatcher && rules::allows_megatron(limits.target) &&
                        config.software.expert_features.deepep;
  search::Problem open = make_problem(std::move(config), limits);
  // Its default attention, FlexAttention, gathers keys and values.
  if (limits.target == rules::Target::torchtitan && !limits.cp_comm)
    open.limits.cp_comm = plan::CpComm::all_gather;
  if (offload.parameters || offload.nvme_optimizer())
    open.limits.zero.min = std::max<i64>(3, open.limits.zero.min);
  open.overlap_chunks = !stated.overlap_pp;
  open.dispatch_per_node = per_node;
  return open;
}

std::optional<cluster::Cluster> grow_cluster(const cluster::Cluster& cluster, i64 devices) {
  for (const catalog::System& system : catalog::systems()) {
    cluster::Cluster same = system.unit;
    same.levels.back().arity = cluster.levels.back().arity;
    same.name = cluster.name;
    if (same != cluster) continue;
    const i64 units = ceil_div(devices, system.unit.devices());
    const Result<cluster::Cluster> larger =
        catalog::find_cluster(fmt::format("{} x {}", system.name, units));
    return larger ? std::optional(*larger) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace rankwright::planner
