// A Trainer is one rank of a run: it holds the rank's share of the model and executes its role of
// the plan's Program, step after step. It draws nothing and prints nothing; who wants to see
// something asks for the results, the counters and the times.
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

struct TrainOptions {
  std::uint64_t seed = 1;  // of the weights, whatever the layout
  double learning_rate = 3e-4;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices alone
  double clip = 1;            // the gradients' global norm; 0: as it is
};

/// The same on every rank.
struct StepResult {
  double loss = 0;           // mean over the tokens of the batch
  double gradient_norm = 0;  // before it was clipped
};

/// When an action of the rank's role ran, in seconds since its step began.
struct Timed {
  pipeline::Action action{};
  double begin = 0, end = 0;
};

class Trainer {
 public:
  /// Collective: all ranks of the world at the same time. The config has no violation, breaks no
  /// rule of the runtime, and has as many ranks as the world.
  static Result<std::unique_ptr<Trainer>> create(const plan::TrainingConfig& config,
                                                 const TrainOptions& options, const World& world,
                                                 const Backend& backend);
  ~Trainer();

  /// Collective. `step` counts from 0 and chooses the batch.
  StepResult step(const Corpus& corpus, i64 step);

  const program::Program& program() const;
  i64 pp_rank() const;

  // Of the last step.
  const Counters& counters() const;
  std::span<const Timed> times() const;
  /// Why this rank could not read its tokens; the step was taken without them.
  const std::optional<Diagnostic>& data_fault() const;
  /// Bytes that tensors took at most: of the last step, and of all.
  Bytes peak() const;

 private:
  Trainer();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rankwright::runtime
