// Model states: the bytes of parameters, gradients and optimizer that one rank holds after ZeRO.
// Activations and buffers are not here. Formulas M1 to M3: with bf16 and Adam, 16 bytes a
// parameter.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

struct States {
  Bytes parameters{};
  Bytes gradients{};
  Bytes optimizer{};
  Bytes gathered{};  // ZeRO-3: the largest unit, whole, twice (the one in use and the next; M3)

  Bytes total() const { return parameters + gradients + optimizer + gathered; }
};

/// Of a rank of `pp_rank`, or of one with these contents.
States states(const plan::TrainingConfig& config, i64 pp_rank);
States states(const plan::TrainingConfig& config, const plan::RankContents& on_rank);

/// The same for a caller that knows the parameters of the rank, and of its largest unit.
States states(const plan::TrainingConfig& config, const plan::Share& share, i64 largest_unit);

/// Each rank holds its shard of the weights only: from ZeRO-3 on; FSDP keeps fp32 shards from
/// ZeRO-2 on, even where what it gathers from them stays.
bool shards_weights(const plan::TrainingConfig& config);

/// `each` bytes a parameter of `share`, whole or as ZeRO divides them: dense ones over the shard
/// group, experts over their data ranks.
Bytes held(const plan::Plan& plan, const plan::Share& share, i64 each, bool sharded);

}  // namespace rankwright::cost
