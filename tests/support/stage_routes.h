// Which pp rank runs which stage, for the tests of plan/, by following every microbatch through the
// pipeline.
#pragma once

#include <set>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::stage_routes {

/// Returns the pp rank of each stage that a microbatch passes: up the ranks, and from the last to
/// the first again; up and down (V schedules); or only down, for the second half of DualPipe's
/// microbatches.
inline std::vector<i64> way(const plan::TrainingConfig& config, i64 microbatch) {
  const plan::Plan& p = config.plan;
  const bool vee =
      p.schedule == pipeline::Schedule::zb_v || p.schedule == pipeline::Schedule::dualpipe_v;
  const bool down = p.schedule == pipeline::Schedule::dualpipe && p.pp > 1 &&
                    microbatch >= config.microbatches() - microbatch;
  i64 at = down ? p.pp - 1 : 0, step = down ? -1 : 1;
  std::vector<i64> ranks;
  for (i64 s = 0; s < p.pp * p.virtual_stages; ++s) {
    ranks.push_back(at);
    const bool end = at + step < 0 || at + step == p.pp;
    if (end && vee)
      step = -step;
    else
      at = end ? 0 : at + step;
  }
  return ranks;
}

/// Returns the stages that a microbatch passes on a pp rank.
inline std::set<i64> met(const plan::TrainingConfig& config, i64 microbatch, i64 pp_rank) {
  const std::vector<i64> ranks = way(config, microbatch);
  std::set<i64> stages;
  for (std::size_t s = 0; s < ranks.size(); ++s)
    if (ranks[s] == pp_rank) stages.insert(i64(s));
  return stages;
}

/// Returns the stages whose parameters a pp rank holds: those that any microbatch passes there.
inline std::set<i64> held(const plan::TrainingConfig& config, i64 pp_rank) {
  std::set<i64> stages;
  for (i64 m = 0; m < config.microbatches(); ++m) stages.merge(met(config, m, pp_rank));
  return stages;
}

}  // namespace rankwright::stage_routes
