// The activations that one layer keeps on a rank between its forward and its backward, for one
// microbatch, and the temporary tensors of its backward. Computed from shapes (formulas M5 to M12).
// The number of microbatches in flight and everything outside layers are in memory.h. Whether the
// saved input of an 8-bit matmul takes 8 bits depends on the framework (M27).
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// Returns the tokens of the busiest ep rank over the mean, which all others wait for: as stated,
/// or the usual one. With a fixed capacity every expert computes as many.
double find_imbalance(const plan::Job& job, const cluster::Calibration& calibration);

/// The saved activations of one layer by tensor, without recomputation.
struct SavedLayer {
  Bytes norms{};      // inputs of the norms, and inputs of the matmuls after them (M5)
  Bytes scaled{};     // outputs of blocks, before their learned scales (M5)
  Bytes projected{};  // queries, keys, values; latent attention: also the compressed ones (M6)
  Bytes context{};    // input of the output projection (M6)
  Bytes core{};       // scores, or one fp32 number per query and head (M7)
  Bytes masks{};      // dropout masks after attention and feed-forward (M8)
  Bytes ffn{};        // dense feed-forward or shared expert (M9)
  Bytes routed{};     // router scores, tokens at their experts, and inside the experts (M10)
  Bytes adapters{};   // between the two matrices of each adapter (M30)

  Bytes total() const {
    return norms + scaled + projected + context + core + masks + ffn + routed + adapters;
  }
};

/// Computes the saved activations of one layer and microbatch, without recomputation.
SavedLayer saved(const plan::TrainingConfig& config, const model::Layer& layer);

/// The activation memory of one layer under the plan's recomputation policy.
struct LayerActivations {
  Bytes kept{};       // saved by a layer without full recomputation; less if selective
  Bytes input{};      // saved by a fully recomputed layer: its input only
  Bytes whole{};      // restored by full recomputation for the backward of the layer
  Bytes core{};       // restored by selective recomputation for the backward of the layer
  Bytes gradients{};  // inside its feed-forward, during its backward (M12)
  // Added by fp32 weights and adapters, by the way in which ZeRO handles them (M33):
  Bytes casts{};       // to `kept` and `whole`: a cast of an input for each matmul
  Bytes wide_input{};  // to `input`: its fp32 format
};

/// Computes the activation memory of one layer and microbatch.
LayerActivations activations(const plan::TrainingConfig& config, const model::Layer& layer);

/// Computes the activation memory of an MTP module: a layer like the last one, plus the two
/// normalized halves of its projection's input and the inputs of their norms.
LayerActivations compute_mtp_activations(const plan::TrainingConfig& config);

/// The elements in the weight matrices of a layer on one rank, counting each shape once.
struct LayerMatrices {
  double attention = 0;
  double ffn = 0;  // dense, or one routed expert and the shared one
};

/// Counts the weight matrix elements of a layer.
LayerMatrices matrices(const plan::TrainingConfig& config, const model::Layer& layer);

}  // namespace rankwright::cost
