#include "rankwright/cost/states.h"

#include "rankwright/plan/shares.h"

namespace rankwright {

States states(const Setup& setup, i64 pp_rank) { return states(setup, contents(setup, pp_rank)); }

States states(const Setup& setup, const RankContents& on_rank) {
  const Plan& plan = setup.plan;
  const Job& job = setup.job;
  const Share share = rank_share(setup, on_rank);
  // ZeRO divides dense states over the shard group, expert states over the expert data ranks.
  const double dense_shards = double(plan.shards());
  const double expert_shards = double(plan.expert_dp());
  const auto held = [&](i64 each, bool sharded) {
    return bytes(share.dense, each) / (sharded ? dense_shards : 1.0) +
           bytes(share.expert, each) / (sharded ? expert_shards : 1.0);
  };
  const i64 whole_units = plan.zero >= 3 ? 2 : 0;
  return {.parameters = held(job.param_bytes(), plan.zero >= 3),
          .gradients = held(job.grad_bytes(), plan.zero >= 2),
          .optimizer = held(job.optimizer_bytes(), plan.zero >= 1),
          .gathered = whole_units * bytes(largest_unit(setup, on_rank), job.param_bytes())};
}

Fullest fullest_rank(const Setup& setup) {
  const std::vector<RankContents> all = rank_contents(setup);
  Fullest fullest{0, states(setup, all[0])};
  for (i64 r = 1; r < setup.plan.pp; ++r) {
    const States here = states(setup, all[std::size_t(r)]);
    if (here.total() > fullest.states.total()) fullest = {r, here};
  }
  return fullest;
}

}  // namespace rankwright
