#include "rankwright/cost/memory/states.h"

namespace rankwright::cost {

States compute_states(const plan::TrainingConfig& config, i64 pp_rank) {
  return compute_states(config, contents(config, pp_rank));
}

States compute_states(const plan::TrainingConfig& config, const plan::RankContents& on_rank) {
  return compute_states(config, count_rank_share(config, on_rank), largest_unit(config, on_rank));
}

States compute_states(const plan::TrainingConfig& config, const plan::Share& share,
                      i64 largest_unit) {
  const plan::Plan& plan = config.plan;
  const plan::Job& job = config.job;
  // Without overlap nothing is prefetched, but frameworks keep the second unit anyway.
  const bool ahead = plan.overlap.param_gather || !config.software.bare;
  const i64 whole_units = plan.zero >= 3 ? (ahead ? 2 : 1) : 0;
  return {.parameters = held(plan, share, job.param_bytes(), plan.zero >= 3),
          .gradients = held(plan, share, job.grad_bytes(), plan.zero >= 2),
          .optimizer = held(plan, share, job.optimizer_bytes(), plan.zero >= 1),
          .gathered = whole_units * bytes(largest_unit, job.param_bytes())};
}

bool shards_weights(const plan::TrainingConfig& config) {
  return config.plan.zero >= (config.software.fsdp ? 2 : 3);
}

Bytes held(const plan::Plan& plan, const plan::Share& share, i64 each, bool sharded) {
  return bytes(share.dense, each) / (sharded ? double(plan.shards()) : 1.0) +
         bytes(share.expert, each) / (sharded ? double(plan.expert_dp()) : 1.0);
}

}  // namespace rankwright::cost
