// What one layer leaves on a rank between its forward and its backward, for one microbatch, and
// what its backward holds for a while besides. Counted from shapes; how many microbatches are held
// at once, and all that is not a layer's, is memory.h. Formulas M5 to M12.
//
// 16-bit activations stay 16-bit where matmuls compute in fp8: whether the fp8 copy of an input
// takes the place of the 16-bit one is up to the framework, and no measurement here decides it.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// By tensor, nothing recomputed.
struct SavedLayer {
  Bytes norms{};      // what enters the norms, and what the matmuls behind them read (M5)
  Bytes projected{};  // queries, keys, values; latent: the compressed ones too (M6)
  Bytes context{};    // what the output projection reads (M6)
  Bytes core{};       // scores, or one fp32 number a query and head (M7)
  Bytes masks{};      // of dropout behind attention and feed-forward (M8)
  Bytes ffn{};        // dense, or what every token visits besides its experts (M9)
  Bytes routed{};     // router's scores, tokens at their experts, and inside them (M10)

  Bytes total() const { return norms + projected + context + core + masks + ffn + routed; }
};
SavedLayer saved(const plan::TrainingConfig& config, const model::Layer& layer);

/// What the plan makes of it.
struct LayerActivations {
  Bytes kept{};       // of a layer that does not run again: all, or less with selective recompute
  Bytes input{};      // of one that does: its input alone
  Bytes whole{};      // what running it again brings back for its backward
  Bytes core{};       // selective recompute: what is brought back for the backward of one layer
  Bytes gradients{};  // inside its feed-forward, while its backward runs (M12)
};
LayerActivations activations(const plan::TrainingConfig& config, const model::Layer& layer);

/// Those of an MTP module: a layer like the last; the two normed halves of what its projection
/// reads, and what entered their norms.
LayerActivations mtp_activations(const plan::TrainingConfig& config);

/// Weight matrices of a layer on one rank, of each kind one: attention; feed-forward, dense or one
/// expert and the shared one.
struct LayerMatrices {
  double attention = 0;
  double ffn = 0;
};
LayerMatrices matrices(const plan::TrainingConfig& config, const model::Layer& layer);

}  // namespace rankwright::cost
