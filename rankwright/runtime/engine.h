// The Engine is what a rank computes with: its share of the model, the store and the role, over
// groups that somebody joined. It needs no world: with groups of one rank each it is the model on a
// single process, which every layout is compared with.
#pragma once

#include <memory>

#include "rankwright/program/program.h"
#include "rankwright/runtime/pipeline_executor.h"

namespace rankwright::runtime {

/// The plan's groups that this rank is in. Collective: all ranks of the world at the same time.
Result<Groups> join(const plan::TrainingConfig& config, const World& world, const Backend& backend,
                    Counters* counters);

class Engine {
 public:
  /// `rank` is this rank's number in the plan.
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
