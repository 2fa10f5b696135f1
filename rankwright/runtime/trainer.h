// A Trainer is one rank of a run: it holds the rank's share of the model and executes its actions
// of the plan's Program, step by step. It prints nothing; callers read the results, the counters
// and the action times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/plan/plan.h"
#include "rankwright/program/program.h"
#include "rankwright/runtime/corpus.h"
#include "rankwright/runtime/counters.h"
#include "rankwright/runtime/world.h"

namespace rankwright::runtime {

/// Options of a training run that the plan does not fix.
struct TrainOptions {
  std::uint64_t seed = 1;  // of the initial weights, the same for every layout
  double learning_rate = 3e-4;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices only
  double clip = 1;            // maximum global gradient norm; 0: no clipping
};

/// The result of one step, the same on every rank.
struct StepResult {
  double loss = 0;           // mean over the tokens of the batch
  double gradient_norm = 0;  // before clipping
};

/// When an action ran, in seconds since its step began.
struct ActionTime {
  pipeline::Action action{};
  double begin = 0, end = 0;
};

class Trainer {
 public:
  /// Creates the rank's trainer. Collective: all ranks of the world call it at the same time.
  /// Requires: `config` has no constraint violation, can run on this runtime, and has as many ranks
  /// as the world.
  static Result<std::unique_ptr<Trainer>> create(const plan::TrainingConfig& config,
                                                 const TrainOptions& options, const World& world,
                                                 const Backend& backend);
  ~Trainer();

  /// Runs one step. Collective. `step` counts from 0 and selects the batch.
  StepResult step(const Corpus& corpus, i64 step);

  const program::Program& program() const;
  i64 pp_rank() const;

  // Results of the last step.
  const Counters& counters() const;
  std::span<const ActionTime> times() const;
  /// Returns why this rank could not read its tokens; the step ran with zeros instead.
  const std::optional<Diagnostic>& data_fault() const;
  /// Returns the peak bytes of tensors.
  Bytes peak() const;

 private:
  Trainer();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rankwright::runtime
