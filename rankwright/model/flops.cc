#include "rankwright/model/flops.h"

#include "rankwright/base/check.h"
#include "rankwright/model/parameters.h"

namespace rankwright::model {
namespace {

// The backward pass computes gradients for inputs and for weights: training costs three forward
// passes, less for frozen parts (F8).
constexpr double kForwardAndBackward = 3;

/// Returns the weights that one token is multiplied with in a layer's matmuls. Biases and norms are
/// not matmuls. The router is, but it is a thousandth of the experts, and Megatron does not count
/// it either.
Parameters matmul_parameters(const Model& model, const Layer& layer) {
  Layer stripped = layer;
  stripped.ffn.bias = false;
  stripped.ffn.shared_gate = false;
  if (layer.ffn.sparse()) stripped.ffn.experts = layer.ffn.active;
  Parameters p = count_parameters(model, stripped);
  p.attention = count_attention_weights(model.hidden, layer.attention);
  return p;
}

double matmul_weights(const Model& model, const Layer& layer) {
  const Parameters p = matmul_parameters(model, layer);
  return double(p.attention + p.mlp + p.experts);
}

/// Returns the multiply-adds of one token without the causal half: queries with keys and scores
/// with values over all tokens. A recurrence has no such half.
double attention_products(const Attention& attention, i64 sequence) {
  const double core = core_forward_flops(attention, sequence).value;
  return attention.recurrent() ? core / 2 : core;
}

/// Returns the mean number of keys per query, times two, if a query reads at most `most` tokens.
double windowed_length(double most, double sequence) {
  return sequence <= most ? sequence : 2 * most - most * most / sequence;
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
  const Parameters all = count_parameters(model);
  // The FLOPs of an encoder are per image (F9).
  double weights = double(count_active_parameters(model) - all.embedding - all.encoder);
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

// F5: a window of w reads w (w + 1) / 2 + (s - w) w, about w s - w^2 / 2 keys, full attention s^2
// / 2. Chunks of c read c^2 / 2 each, and the last one less. F7: for packed documents, `sequence`
// is the length of one.
double compute_score_length(const Attention& attention, i64 sequence) {
  const double s = double(sequence);
  if (attention.index_topk > 0) return windowed_length(double(attention.index_topk), s);
  const double both = attention.causal ? 1 : 2;  // halves of the scores
  if (attention.window == 0 || attention.window >= sequence) return both * s;
  if (!attention.chunked) return windowed_length(double(attention.window), s);
  const double chunk = double(attention.window), rest = double(sequence % attention.window);
  return both * ((s - rest) * chunk + rest * rest) / s;
}

// F6: the state of a head is n x d. The delta rule multiplies with it four times, lightning
// attention twice (write and read); Mamba-2's scan counts 7 FLOPs per element, as in Megatron-LM.
Flops core_forward_flops(const Attention& attention, i64 sequence) {
  const double state = double(attention.value_width()) * double(attention.state);
  switch (attention.kind) {
    case Attention::Kind::none:
      return {};
    case Attention::Kind::delta:
      return Flops{8 * state};
    case Attention::Kind::lightning:
      return Flops{4 * state};
    case Attention::Kind::mamba:
      return Flops{7 * state};
    case Attention::Kind::grouped:
    case Attention::Kind::latent:
      break;
  }
  // 2 FLOPs per multiply-add, halved because attention is causal. The indexer scores all tokens.
  const double index = double(attention.index_heads) * double(attention.index_dim);
  return Flops{compute_score_length(attention, sequence) *
                   double(attention.query_width() + attention.value_width()) +
               double(sequence) * index};
}

LayerFlops count_layer_flops(const Model& model, const Layer& layer, i64 sequence) {
  const Parameters p = matmul_parameters(model, layer);
  return {.projections = Flops{2 * double(p.attention)},
          .core = core_forward_flops(layer.attention, sequence),
          .mlp = Flops{2 * double(p.mlp)},
          .experts = Flops{2 * double(p.experts)}};
}

Flops forward_flops(const Model& model, const Layer& layer, i64 sequence) {
  return count_layer_flops(model, layer, sequence).total();
}

Flops head_forward_flops(const Model& model) { return Flops{2 * head_weights(model)}; }

Flops encoder_forward_flops(const Model& model, i64 image_tokens) {
  const Encoder& e = model.encoder;
  const double tokens = double(image_tokens), patches = tokens * double(e.merge);
  const double hidden = double(e.hidden), layers = double(model.encoder_layers);
  const double weights = hidden * (4 * hidden + double(e.matrices) * double(e.ffn));
  Flops attention{};
  for (const LayerRun& run : list_encoder_layers(model))
    attention += double(run.count) * core_forward_flops(run.layer.attention, i64(patches));
  return Flops{patches * (2 * layers * weights + 2 * double(e.stem)) +
               2 * tokens * double(e.projector)} +
         patches * attention;
}

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
