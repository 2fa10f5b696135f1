#include "rankwright/runtime/engine.h"

#include "rankwright/plan/messages.h"
#include "rankwright/program/expand.h"

namespace rankwright::runtime {
namespace {

Rank make_rank(const plan::TrainingConfig& config, i64 rank, const Groups& groups) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  return {.config = config,
          .formats = choose_formats(config.job),
          .groups = groups,
          .tp_rank = mesh.coordinate(rank, mesh::Axis::tp),
          .dp_rank = mesh.coordinate(rank, mesh::Axis::dp),
          .pp_rank = mesh.coordinate(rank, mesh::Axis::pp),
          .sequence_parallel = sequence_parallel(config.plan)};
}

AdamOptions adam_options(const TrainOptions& options) {
  return {options.learning_rate, options.beta1, options.beta2, options.epsilon,
          options.weight_decay};
}

}  // namespace

Engine::Engine(const plan::TrainingConfig& config, const TrainOptions& options, i64 rank,
               const Groups& groups)
    : config_(config),
      program_(program::expand(config_)),
      rank_(make_rank(config_, rank, groups)),
      shard_(build(rank_)),
      params_(rank_, shard_, adam_options(options), options.seed),
      executor_(rank_, program_, shard_, params_, options.clip) {
  rank_.progress_calls = [this] { params_.progress_calls(); };
}

}  // namespace rankwright::runtime
