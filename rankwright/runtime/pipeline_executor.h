// A role is what a pp rank does in one step, action by action, as the Program lists it. This runs
// it on one rank: cells through the pieces of their stages, messages between stages, and the rank's
// own steps. It keeps what is in flight and nothing else.
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

class PipelineExecutor {
 public:
  PipelineExecutor(Rank& rank, const program::Program& program, Shard& shard, ShardedParams& params,
                   double clip);

  /// One step; afterwards loss() is this rank's share of it, and norm() that of all.
  void run(const Corpus& corpus, i64 step);

  double loss() const { return loss_; }
  double norm() const { return norm_; }
  const std::vector<Timed>& times() const { return times_; }
  /// Why tokens of the last step could not be read; it was taken with zeros in their place, so that
  /// every collective call was made.
  const std::optional<Diagnostic>& data_fault() const { return data_fault_; }
  /// For tests: stop before the optimizer's step, once.
  std::function<void()> before_update = [] {};

 private:
  /// A microbatch in a stage, from its forward to its last backward.
  struct MicrobatchState {
    Tokens tokens{};
    Tensor input{}, output{}, gradient{}, input_gradient{};
    std::vector<Saved> saved{};
    std::vector<WeightWork> weights{};  // by piece: for its W cell
  };
  struct Sending {
    Pending pending{};
    Tensor message{};
  };
  /// One of the role's own steps, and which bucket it is for.
  struct OwnStep {
    program::Step step{};
    std::size_t chunk = 0, bucket = 0;
  };

  std::size_t chunk_of(i64 stage) const;
  MicrobatchState& microbatch_state(i64 stage, i64 microbatch);
  Tokens tokens(i64 microbatch);
  void forward(const pipeline::Action& cell);
  void backward(const pipeline::Action& cell, bool last);
  void weights(const pipeline::Action& cell, bool last);
  void finish_piece(StagePart& stage, std::size_t piece, bool last);
  void transfer(const pipeline::Action& action, std::vector<Pending>& receiving);
  void own(const OwnStep& step);
  void take_norm();
  std::vector<OwnStep> own_steps() const;
  void release_sent(bool all);

  Rank& rank_;
  const program::Program& program_;
  const pipeline::Sequence& executor_;
  Shard& shard_;
  ShardedParams& params_;
  double clip_;
  std::vector<OwnStep> steps_;
  std::vector<bool> last_;  // by action: the last backward or weight gradient of its chunk
  std::map<std::pair<i64, i64>, MicrobatchState> in_flight_{};
  std::vector<Sending> sending_{};
  const Corpus* corpus_ = nullptr;
  i64 step_ = 0;
  double loss_ = 0, norm_ = 0;
  bool normed_ = false;  // in this step
  std::vector<Timed> times_{};
  std::optional<Diagnostic> data_fault_{};
};

}  // namespace rankwright::runtime
