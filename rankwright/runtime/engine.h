// An Engine is the computation of one rank: its share of the model, its sharded parameters and its
// pipeline executor, over groups that the caller joined. It does not need a World: with groups of
// one rank each it trains the model in a single process, the reference that layouts are compared
// with.
#pragma once

#include <memory>

#include "rankwright/program/program.h"
#include "rankwright/runtime/pipeline_executor.h"

namespace rankwright::runtime {

/// Joins the plan's groups that this rank is in. Collective: all ranks of the world call it at the
/// same time.
Result<Groups> join(const plan::TrainingConfig& config, const World& world, const Backend& backend,
                    Counters* counters);

class Engine {
 public:
  /// `rank` is the global rank in the plan.
  Engine(const plan::TrainingConfig& config, const TrainOptions& options, i64 rank,
         const Groups& groups);

  void step(const Corpus& corpus, i64 step) { executor_.run(corpus, step); }

  const plan::TrainingConfig& config() const { return config_; }
  const program::Program& program() const { return program_; }
  const Rank& rank() const { return rank_; }
  Shard& shard() { return shard_; }
  ShardedParams& params() { return params_; }
  PipelineExecutor& executor() { return executor_; }

 private:
  plan::TrainingConfig config_;
  program::Program program_;
  Rank rank_;
  Shard shard_;
  ShardedParams params_;
  PipelineExecutor executor_;
};

}  // namespace rankwright::runtime
