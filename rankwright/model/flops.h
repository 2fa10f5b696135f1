// Counts the floating-point operations of training on one token, forward and backward, in the two
// conventions that tools report (formulas F1, F2). They differ by the causal half of attention, so
// MFUs of different conventions are not comparable. Recomputation is not counted.
#pragma once

#include <string_view>

#include "rankwright/base/units.h"
#include "rankwright/model/model.h"

namespace rankwright::model {

/// How attention is counted.
enum class FlopsConvention : unsigned char {
  megatron_causal,  // attention halved: Megatron-LM, Megatron-Bridge
  palm_full,        // 6 N + 12 L H d s: PaLM, torchtitan
};

std::string_view name(FlopsConvention);

/// Returns the length of full causal attention that costs as much per token as this attention at
/// sequence length `sequence` (F5): `sequence` itself, or less with a window, chunks or an indexer;
/// twice that if it is not causal.
double compute_score_length(const Attention& attention, i64 sequence);

/// Returns the forward FLOPs per token of the part between the projections of attention: the two
/// causal matmuls over the sequence (F3), the scores of an indexer, or the recurrence (F6).
Flops core_forward_flops(const Attention& attention, i64 sequence);

/// Forward FLOPs per token of one layer, by part; the sum is F3.
struct LayerFlops {
  Flops projections{};  // query, key, value and output projections
  Flops core{};         // the two matmuls over the sequence, causal, or the recurrence
  Flops mlp{};          // dense feed-forward, or the shared experts of a MoE layer
  Flops experts{};      // the routed experts that one token visits

  Flops total() const { return projections + core + mlp + experts; }
};
/// Counts the forward FLOPs per token of one layer at sequence length `sequence`, by part.
LayerFlops count_layer_flops(const Model& model, const Layer& layer, i64 sequence);

/// Returns the forward FLOPs per token of one layer at sequence length `sequence`, causal (F3): the
/// weight of a layer in a stage split. Counts matmuls only, without the router, as Megatron does.
Flops forward_flops(const Model& model, const Layer& layer, i64 sequence);

/// Returns the forward FLOPs per token of the output head (F4).
Flops head_forward_flops(const Model& model);

/// Returns the forward FLOPs of the encoder on one image of `image_tokens` tokens (F9), without its
/// patch embedding; 0 if its shapes are not known.
Flops encoder_forward_flops(const Model& model, i64 image_tokens);

/// Returns the forward and backward FLOPs per token: F1 = 3 (sum of F3 over the layers + F4), F2 =
/// 6 (N - embedding) + 12 L H d s, where N counts the parameters that one token visits. Includes
/// the matmul of a tied head and MTP modules, if the model has any; the vocabulary is not padded.
Flops training_flops_per_token(const Model& model, i64 sequence, FlopsConvention);

}  // namespace rankwright::model
