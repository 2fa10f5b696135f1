// Model states: the bytes of parameters, gradients and optimizer states that one rank holds after
// ZeRO (formulas M1 to M3); with bf16 and Adam, 16 bytes per parameter before ZeRO. Activations and
// buffers are not included.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// The model states of one rank.
struct States {
  Bytes parameters{};
  Bytes gradients{};
  Bytes optimizer{};
  Bytes gathered{};  // ZeRO-3: the largest unit, twice (the one in use and the next; M3)

  Bytes total() const { return parameters + gradients + optimizer + gathered; }
};

/// Computes the states of a rank of `pp_rank`, or of a rank with the given contents.
States compute_states(const plan::TrainingConfig& config, i64 pp_rank);
States compute_states(const plan::TrainingConfig& config, const plan::RankContents& on_rank);

/// Computes the states from the parameters of a rank and of its largest unit.
States compute_states(const plan::TrainingConfig& config, const plan::Share& share,
                      i64 largest_unit);

/// Returns whether a rank stores only its shard of the weights: from ZeRO-3 on. FSDP stores fp32
/// shards from ZeRO-2 on, even if the gathered weights are kept.
bool shards_weights(const plan::TrainingConfig& config);

/// Returns the bytes of `share` with `each` bytes per parameter. If `sharded`, dense parameters are
/// divided over the shard group and experts over the expert-data-parallel ranks.
Bytes held(const plan::Plan& plan, const plan::Share& share, i64 each, bool sharded);

}  // namespace rankwright::cost
