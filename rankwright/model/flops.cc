#include "rankwright/model/flops.h"

#include "rankwright/base/check.h"
#include "rankwright/model/parameters.h"

namespace rankwright::model {
namespace {

// The backward pass computes gradients for inputs and for weights: training costs three forward
// passes.
constexpr double kForwardAndBackward = 3;

/// Returns the weights that one token is multiplied with in a layer's matmuls. Biases and norms are
/// not matmuls. The router is, but it is a thousandth of the experts, and Megatron does not count
/// it either.
Parameters matmul_parameters(const Model& model, const Layer& layer) {
  Layer stripped = layer;
  stripped.attention.qkv_bias = stripped.attention.out_bias = stripped.ffn.bias = false;
  stripped.ffn.shared_gate = false;
  if (layer.ffn.sparse()) stripped.ffn.experts = layer.ffn.active;
  return count_parameters(model, stripped);
}

double matmul_weights(const Model& model, const Layer& layer) {
  const Parameters p = matmul_parameters(model, layer);
  return double(p.attention + p.mlp + p.experts);
}

/// Returns the multiply-adds of one token with all `sequence` tokens: queries with keys, scores
/// with values.
double attention_products(const Attention& attention, i64 sequence) {
  return double(sequence) * double(attention.query_width() + attention.value_width());
}

double head_weights(const Model& model) { return double(model.vocab) * double(model.hidden); }

/// Returns the weights of an MTP module's projection from two hidden states to one. The module also
/// has a layer like the model's last, and uses the head again.
double mtp_projection_weights(const Model& model) {
  return 2 * double(model.hidden) * double(model.hidden);
}

Flops count_causal(const Model& model, i64 sequence) {
  Flops forward = head_forward_flops(model);
  for (const LayerRun& run : model.runs)
    forward += double(run.count) * forward_flops(model, run.layer, sequence);
  if (model.mtp_layers > 0) {
    const Flops module = forward_flops(model, model.runs.back().layer, sequence) +
                         Flops{2 * mtp_projection_weights(model)} + head_forward_flops(model);
    forward += double(model.mtp_layers) * module;
  }
  return kForwardAndBackward * forward;
}

/// Computes 6 (N - N_embedding) + 12 L H d s (F2), where N counts the parameters that one token
/// visits and a tied head's matmul counts.
Flops count_full(const Model& model, i64 sequence) {
  double weights = double(count_active_parameters(model) - count_parameters(model).embedding);
  if (model.tied) weights += head_weights(model);
  double products = 0;
  for (const LayerRun& run : model.runs)
    products += double(run.count) * attention_products(run.layer.attention, sequence);
  if (model.mtp_layers > 0) {
    const Layer& last = model.runs.back().layer;
    weights += double(model.mtp_layers) *
               (matmul_weights(model, last) + mtp_projection_weights(model) + head_weights(model));
    products += double(model.mtp_layers) * attention_products(last.attention, sequence);
  }
  return kForwardAndBackward * Flops{2 * (weights + products)};
}

}  // namespace

std::string_view name(FlopsConvention convention) {
  switch (convention) {
    case FlopsConvention::megatron_causal:
      return "Megatron, causal";
    case FlopsConvention::palm_full:
      return "PaLM, full";
  }
  return "PaLM, full";
}

LayerFlops count_layer_flops(const Model& model, const Layer& layer, i64 sequence) {
  const Parameters p = matmul_parameters(model, layer);
  return {.projections = Flops{2 * double(p.attention)},
          .core = Flops{attention_products(
              layer.attention, sequence)},  // 2 FLOPs per multiply-add, halved: count_causal
          .mlp = Flops{2 * double(p.mlp)},
          .experts = Flops{2 * double(p.experts)}};
}

Flops forward_flops(const Model& model, const Layer& layer, i64 sequence) {
  return count_layer_flops(model, layer, sequence).total();
}

Flops head_forward_flops(const Model& model) { return Flops{2 * head_weights(model)}; }

Flops training_flops_per_token(const Model& model, i64 sequence, FlopsConvention convention) {
  switch (convention) {
    case FlopsConvention::megatron_causal:
      return count_causal(model, sequence);
    case FlopsConvention::palm_full:
      return count_full(model, sequence);
  }
  abort_broken_invariant("a convention", __FILE__, __LINE__);
}

}  // namespace rankwright::model
