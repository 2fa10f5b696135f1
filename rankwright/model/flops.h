// Floating-point operations of training one token, forward and backward, in the two conventions
// that tools print (formulas F1, F2). They differ by the causal half of attention: never compare an
// MFU of one with an MFU of the other. Recomputation is not counted here.
#pragma once

#include <string_view>

#include "rankwright/base/units.h"
#include "rankwright/model/model.h"

namespace rankwright::model {

enum class FlopsConvention : unsigned char {
  megatron_causal,  // attention halved: Megatron-LM, Megatron-Bridge
  palm_full,        // 6 N + 12 L H d s: PaLM, torchtitan
};

std::string_view name(FlopsConvention);

/// Forward FLOPs of one token in one layer, by part; the sum is F3.
struct LayerFlops {
  Flops projections{};  // of attention: queries, keys, values, output
  Flops core{};         // attention's two products with the sequence, causal
  Flops mlp{};          // dense feed-forward, or what every token visits of a MoE layer
  Flops experts{};      // the routed experts that a token visits

  Flops total() const { return projections + core + mlp + experts; }
};
LayerFlops layer_flops(const Model& model, const Layer& layer, i64 sequence);

/// Forward FLOPs of one token in one layer at sequence length `sequence`, causal: what a stage
/// split weighs (F3). Matmuls only, the router left out as Megatron does.
Flops forward_flops(const Model& model, const Layer& layer, i64 sequence);

/// Forward FLOPs of one token in the output head (F4).
Flops head_forward_flops(const Model& model);

/// Forward and backward, one token: F1 = 3 (sum of F3 over the layers + F4), F2 = 6 (N - embedding)
/// + 12 L H d s with N of the parameters that one token visits. A tied head's matmul counts; the
/// vocabulary is not padded; MTP modules that the model has are trained, and so counted.
Flops training_flops_per_token(const Model& model, i64 sequence, FlopsConvention);

}  // namespace rankwright::model
