#include "rankwright/cost/memory/states.h"

#include <algorithm>

#include "rankwright/plan/adapters.h"
#include "rankwright/plan/frozen.h"

namespace rankwright::cost {
namespace {

// DeepSpeed's defaults (runtime/zero/offload_config.py): four fp32 buffers for a sub-group of the
// optimizer, five for parameters, of which up to 1e9 stay in host memory (max_in_cpu).
constexpr i64 kOptimizerBuffers = 4, kParameterBuffers = 5, kMaxInMemory = 1'000'000'000;

/// Moves states from host memory to the drives; `buffers` stay in memory.
void move_to_nvme(Bytes moved, Bytes buffers, States& states) {
  states.nvme += moved;
  states.host += buffers - moved;
}

/// Returns the ZeRO stage from which on a rank stores only its shard of the weights.
int find_weight_stage(const plan::TrainingConfig& config) { return config.software.fsdp ? 2 : 3; }

}  // namespace

StateBytes count_state_bytes(const plan::TrainingConfig& config) {
  const plan::Job& job = config.job;
  if (job.frozen())
    return {.weights = double(plan::adapter_bytes(job)),
            .gradients = double(job.grad_bytes()),
            .optimizer = job.optimizer_bytes(),
            .frozen = job.base_bytes()};
  if (!config.software.fsdp)
    return {.weights = double(job.param_bytes()),
            .gradients = double(job.grad_bytes()),
            .optimizer = job.optimizer_bytes()};
  // FSDP stores the master copy alone; gradients have its format.
  const double stored = double(std::max(job.param_bytes(), job.master_bytes()));
  return {.weights = stored,
          .gradients = stored,
          .optimizer = job.optimizer_bytes() - double(job.master_bytes())};
}

KeptOnDevice find_kept_on_device(const plan::TrainingConfig& config) {
  return find_kept_on_device(config, config.plan.zero);
}

KeptOnDevice find_kept_on_device(const plan::TrainingConfig& config, int zero) {
  const plan::Offload& offload = config.plan.offload;
  const bool alone = config.plan.data_ranks() == 1;
  // Whole gradients are reduced on the device; their shards leave it. Whole weights stay.
  const bool gradients =
      offload.optimizer > 0 && config.software.offloads_gradients && (zero >= 2 || alone);
  const bool weights = offload.parameters && (zero >= find_weight_stage(config) || alone);
  return {.weights = weights ? 0.0 : 1.0,
          .gradients = gradients ? 1 - offload.optimizer : 1,
          .optimizer = 1 - offload.optimizer};
}

KeptOnNvme find_kept_on_nvme(const plan::TrainingConfig& config) {
  const plan::Offload& offload = config.plan.offload;
  if (config.plan.zero < 3 && config.plan.data_ranks() > 1) return {};
  return {.optimizer = offload.nvme_optimizer(), .parameters = offload.nvme_parameters()};
}

i64 count_vocabulary(const plan::TrainingConfig& config, bool embeds, bool loss) {
  const i64 weight = plan::count_vocabulary_weight(config.model, config.plan.tp).dense;
  const bool head = loss && !(config.model.tied && embeds);
  return weight * (i64(embeds) + i64(head));
}

i64 count_trained_vocabulary(const plan::TrainingConfig& config, bool embeds, bool loss) {
  return count_vocabulary(config, embeds && trains_embedding(config),
                          loss && trains_head_weight(config));
}

States compute_states(const plan::TrainingConfig& config, i64 pp_rank) {
  return compute_states(config, contents(config, pp_rank));
}

States compute_states(const plan::TrainingConfig& config, const plan::RankContents& on_rank) {
  i64 largest_adapters = 0;
  for (const model::LayerRun& run : on_rank.runs)
    largest_adapters = std::max(largest_adapters, count_adapter_share(config, run.layer).dense);
  return compute_states(
      config, StateCounts{.share = count_rank_share(config, on_rank),
                          .trained = count_trained_share(config, on_rank),
                          .vocabulary = count_vocabulary(config, on_rank.embeds(), on_rank.loss),
                          .trained_vocabulary =
                              count_trained_vocabulary(config, on_rank.embeds(), on_rank.loss),
                          .largest_unit = largest_unit(config, on_rank),
                          .largest_adapters = largest_adapters});
}

States compute_states(const plan::TrainingConfig& config, const StateCounts& counts) {
  const plan::Plan& plan = config.plan;
  const plan::Job& job = config.job;
  const StateBytes each = count_state_bytes(config);
  const KeptOnDevice kept = find_kept_on_device(config);
  const plan::Share& trained = counts.trained;
  const bool fsdp_pipeline = config.software.fsdp && plan.pp > 1;  // keeps whole gradients
  const bool sharded = shards_weights(config);
  Bytes weights = held(plan, job.frozen() ? trained : counts.share, each.weights, sharded);
  if (job.frozen()) {
    // Embedding, head, norms and biases are not quantized.
    const double rest = std::max(job.quantized() ? 0 : each.frozen, double(job.param_bytes()));
    const i64 plain =
        std::min(counts.share.dense, counts.vocabulary + counts.share.sequence_shared);
    const plan::Share matrices{.dense = counts.share.dense - plain, .expert = counts.share.expert};
    weights +=
        held(plan, matrices, each.frozen, sharded) + held(plan, {.dense = plain}, rest, sharded);
  }
  const Bytes gradients = held(plan, trained, each.gradients, plan.zero >= 2 && !fsdp_pipeline);
  Bytes optimizer = held(plan, trained, each.optimizer, plan.zero >= 1);
  if (job.optimizer == plan::Optimizer::muon && !job.frozen())  // Adam's second moment
    optimizer +=
        held(plan, {.dense = counts.trained_vocabulary}, job.moment_bytes(), plan.zero >= 1);
  // Without overlap nothing is prefetched, but frameworks keep the second unit anyway.
  const bool ahead = plan.overlap.param_gather || !config.software.bare;
  const bool gathers = plan.zero >= 3 || kept.weights == 0;
  const i64 whole_units = gathers ? (ahead ? 2 : 1) : 0;
  const double unit =
      job.frozen() ? std::min(each.frozen, double(job.param_bytes())) : double(job.param_bytes());
  const i64 adapters = gathers_adapters(config) ? counts.largest_adapters : 0;
  // The host's optimizer reads fp32; FSDP's reads gradients in the format of its parameters.
  constexpr double kFp32Gradient = 4;
  const Bytes host_gradients =
      held(plan, trained, config.software.fsdp ? each.gradients : kFp32Gradient, plan.zero >= 1);
  States states{
      .parameters = kept.weights * weights,
      .gradients = kept.gradients * gradients,
      .optimizer = kept.optimizer * optimizer,
      .gathered = whole_units * (bytes(counts.largest_unit, unit) + bytes(adapters, each.weights)),
      .host = (1 - kept.weights) * weights + (1 - kept.optimizer) * (optimizer + host_gradients)};
  const KeptOnNvme on_nvme = find_kept_on_nvme(config);
  if (on_nvme.optimizer) {  // a sub-group is never larger than the shard
    const Bytes moved = (1 - kept.optimizer) * (optimizer + host_gradients);
    const Bytes buffers = bytes(kOptimizerBuffers * count_nvme_buffer(config), kFp32Gradient);
    move_to_nvme(moved, std::min(moved, buffers), states);
  }
  if (on_nvme.parameters) {
    const Bytes in_memory =
        std::min((1 - kept.weights) * weights, bytes(kMaxInMemory, double(job.param_bytes())));
    states.nvme_parameters = (1 - kept.weights) * weights - in_memory;
    move_to_nvme(states.nvme_parameters,
                 bytes(kParameterBuffers * count_nvme_buffer(config), double(job.param_bytes())),
                 states);
  }
  return states;
}

bool shards_weights(const plan::TrainingConfig& config) {
  return config.plan.zero >= find_weight_stage(config);
}

Bytes held(const plan::Plan& plan, const plan::Share& share, double each, bool sharded) {
  return bytes(share.dense, each) / (sharded ? double(plan.shards()) : 1.0) +
         bytes(share.expert, each) / (sharded ? double(plan.expert_dp()) : 1.0);
}

}  // namespace rankwright::cost
