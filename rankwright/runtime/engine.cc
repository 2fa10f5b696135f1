#include "rankwright/runtime/engine.h"

#include "rankwright/plan/messages.h"
#include "rankwright/program/expand.h"

namespace rankwright::runtime {
namespace {

Rank make_rank(const Setup& setup, i64 rank, const Groups& groups) {
  const Mesh mesh = setup.plan.meshes().dense;
  return {.setup = setup,
          .formats = formats(setup.job),
          .groups = groups,
          .tp_rank = mesh.coordinate(rank, Axis::tp),
          .dp_rank = mesh.coordinate(rank, Axis::dp),
          .pp_rank = mesh.coordinate(rank, Axis::pp),
          .sequence_parallel = sequence_parallel(setup.plan)};
}

AdamOptions adam(const TrainOptions& options) {
  return {options.learning_rate, options.beta1, options.beta2, options.epsilon,
          options.weight_decay};
}

}  // namespace

Engine::Engine(const Setup& setup, const TrainOptions& options, i64 rank, const Groups& groups)
    : setup_(setup),
      program_(expand(setup_)),
      rank_(make_rank(setup_, rank, groups)),
      shard_(build(rank_)),
      store_(rank_, shard_, adam(options), options.seed),
      role_(rank_, program_, shard_, store_, options.clip) {
  rank_.move_on = [this] { store_.move_on(); };
}

}  // namespace rankwright::runtime
