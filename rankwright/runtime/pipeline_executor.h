// A PipelineExecutor runs one training step on one rank: the actions that the Program lists for its
// pp rank, that is cells, messages between stages, and the rank's own steps (gradient reduction,
// optimizer). It holds the microbatches in flight; ShardedParams holds weights and gradients.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "rankwright/program/program.h"
#include "rankwright/program/steps.h"
#include "rankwright/runtime/corpus.h"
#include "rankwright/runtime/rank.h"
#include "rankwright/runtime/sharded_params.h"
#include "rankwright/runtime/stage.h"
#include "rankwright/runtime/trainer.h"

namespace rankwright::runtime {

/// Executes the actions of one pp rank.
class PipelineExecutor {
 public:
  PipelineExecutor(Rank& rank, const program::Program& program, Shard& shard, ShardedParams& params,
                   double clip);

  /// Runs one step. Afterwards loss() is this rank's share of the loss, and norm() the global
  /// gradient norm.
  void run(const Corpus& corpus, i64 step);

  double loss() const { return loss_; }
  double norm() const { return norm_; }
  const std::vector<ActionTime>& times() const { return times_; }
  /// Returns why tokens of the last step could not be read. The step ran with zeros in their place,
  /// so that every collective was called on every rank.
  const std::optional<Diagnostic>& data_fault() const { return data_fault_; }
  /// For tests: called before the optimizer's update.
  std::function<void()> before_update = [] {};

 private:
  /// A microbatch in one stage, from its forward to its last backward.
  struct MicrobatchState {
    Tokens tokens{};
    Tensor input{}, output{}, gradient{}, input_gradient{};
    std::vector<SavedActivations> saved{};
    std::vector<WeightWork> weights{};  // by piece: deferred to the W cell
  };
  struct PendingSend {
    Pending pending{};
    Tensor message{};
  };
  /// A step action of the rank, and the bucket that it applies to.
  struct OwnStep {
    program::Step step{};
    std::size_t chunk = 0, bucket = 0;
  };

  std::size_t chunk_of(i64 stage) const;
  MicrobatchState& find_or_add_state(i64 stage, i64 microbatch);
  Tokens load_tokens(i64 microbatch);
  void forward(const pipeline::Action& cell);
  void backward(const pipeline::Action& cell, bool last);
  void compute_weight_grads(const pipeline::Action& cell, bool last);
  void finish_piece(StagePart& stage, std::size_t piece, bool last);
  void transfer(const pipeline::Action& action, std::vector<Pending>& receiving);
  void run_own_step(const OwnStep& step);
  void compute_norm();
  std::vector<OwnStep> list_own_steps() const;
  void release_sent(bool all);

  Rank& rank_;
  const program::Program& program_;
  const pipeline::Sequence& actions_;
  Shard& shard_;
  ShardedParams& params_;
  double clip_;
  std::vector<OwnStep> steps_;
  std::vector<bool> last_;  // by action: the last backward or weight gradient of its chunk
  std::map<std::pair<i64, i64>, MicrobatchState> in_flight_{};
  std::vector<PendingSend> sending_{};
  const Corpus* corpus_ = nullptr;
  i64 step_ = 0;
  double loss_ = 0, norm_ = 0;
  bool normed_ = false;  // norm_ is of this step
  std::vector<ActionTime> times_{};
  std::optional<Diagnostic> data_fault_{};
};

}  // namespace rankwright::runtime
