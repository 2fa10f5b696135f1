#include "rankwright/cost/memory/activations.h"

#include <algorithm>

#include "rankwright/plan/messages.h"

namespace rankwright::cost {
namespace {

constexpr double kFp32 = 4;
/// Inside an expert, gated: both halves before the activation, and what is behind it, weighed by
/// the router in the same kernel. Plain: before, behind, and weighed.
constexpr double kInsideExpert = 3;
constexpr double kMask = 1;  // bytes of an element that dropout kept or not

/// Numbers a token, on one tp rank. Doubles: with the tokens of a hostile plan they leave 64 bits.
struct Widths {
  double query = 0, key = 0, value = 0;
  double latent = 0;   // compressed queries and keys, whole on every tp rank
  double up = 0;       // latent: keys' position-free part and values, as they are projected
  double context = 0;  // output of the heads
};

Widths widths(const model::Attention& a, i64 tp) {
  const double heads = double(a.heads) / double(tp);
  if (a.kind == model::Attention::Kind::latent) {
    const double qk = heads * double(a.nope_dim + a.rope_dim);
    const double v = heads * double(a.value_dim);
    return {.query = qk,
            .key = qk,
            .value = v,
            .latent = double(a.q_rank + a.kv_rank + a.rope_dim),
            .up = heads * double(a.nope_dim + a.value_dim),
            .context = v};
  }
  // Fewer key-value heads than ranks: they repeat.
  const double key = double(ceil_div(a.kv_heads, tp)) * double(a.head_dim);
  const double query = heads * double(a.head_dim);
  return {.query = query, .key = key, .value = key, .context = query};
}

/// What the terms share: tokens of a microbatch on a cp rank, bytes of an activation, hidden
/// numbers that a tp rank keeps of a token, and the part of the tokens that it has between blocks.
struct Scale {
  double tokens, bytes, hidden, part;

  explicit Scale(const plan::TrainingConfig& s)
      : tokens(double(s.plan.micro_batch) * double(s.job.sequence) / double(s.plan.cp)),
        bytes(double(s.job.activation_bytes())),
        hidden(double(s.model.hidden)),
        part(sequence_parallel(s.plan) ? 1 / double(s.plan.tp) : 1) {}

  /// `width` numbers a token.
  Bytes of(double width) const { return {tokens * bytes * width}; }
  Bytes plain(double bytes_a_token) const { return {tokens * bytes_a_token}; }
};

double matrix_count(const model::FeedForward& ffn) { return double(ffn.matrices); }

/// Width inside the dense or the shared feed-forward, on one tp rank.
double dense_width(const model::FeedForward& ffn, i64 tp) {
  return double(ffn.sparse() ? ffn.shared_width : ffn.width) / double(tp);
}

/// A norm before a block keeps its input and its output, which the block's matmuls read; one behind
/// a block its input.
double norm_tensors(i64 norms) {
  const i64 before = std::min<i64>(norms, 2);
  return double(2 * before + (norms - before));
}

Bytes attention_core(const plan::TrainingConfig& s, const model::Attention& a, const Scale& scale) {
  const double heads = double(a.heads) / double(s.plan.tp);
  if (s.software.attention != plan::AttentionKernel::unfused) return scale.plain(kFp32 * heads);
  // Softmax's output; with dropout also its mask and what it left.
  const double score = s.software.dropout ? 2 * scale.bytes + kMask : scale.bytes;
  return scale.plain(score * heads * double(s.job.sequence));
}

/// Selective recompute by operation: the layer's input, the output of every second matmul (queries,
/// values, one inside the feed-forward, the last one) and of attention. Of routed experts nothing.
Bytes kept_by_op(const plan::TrainingConfig& s, const model::Layer& layer, const Scale& scale) {
  const Widths w = widths(layer.attention, s.plan.tp);
  const bool latent = layer.attention.kind == model::Attention::Kind::latent;
  const double projected = latent ? w.latent : w.query + w.value;
  const double inside = dense_width(layer.ffn, s.plan.tp);
  const double hidden = scale.part * scale.hidden;
  return scale.of(hidden + projected + w.context + inside + hidden) +
         scale.plain(kFp32 * double(layer.attention.heads) / double(s.plan.tp));
}

/// Megatron-LM's modules for layers with experts (mla_up_proj, layernorm, moe_act): attention's
/// core, what norms write, what the experts' activation function writes, and, where attention is
/// latent, queries, keys and values behind their up-projection.
Bytes dropped_by_module(const plan::TrainingConfig& s, const model::Layer& layer,
                        const SavedLayer& all, const Scale& scale) {
  const model::FeedForward& ffn = layer.ffn;
  const Widths w = widths(layer.attention, s.plan.tp);
  const double written = double(std::min<i64>(layer.norms, 2)) * scale.part * scale.hidden;
  const double activated = double(ffn.active) * scale.part * double(ffn.expert_width) +
                           double(ffn.shared_width) / double(s.plan.tp);
  const bool latent = layer.attention.kind == model::Attention::Kind::latent;
  const double projected = latent ? w.query + w.key + w.value + w.up : 0;
  return all.core + scale.of(written + activated + projected);
}

}  // namespace

SavedLayer saved(const plan::TrainingConfig& s, const model::Layer& layer) {
  const Scale scale(s);
  const model::Attention& a = layer.attention;
  const model::FeedForward& ffn = layer.ffn;
  const Widths w = widths(a, s.plan.tp);
  const double hidden = scale.part * scale.hidden;
  SavedLayer out{.norms = scale.of(norm_tensors(layer.norms) * hidden),
                 .projected = scale.of(w.query + w.key + w.value + 2 * w.latent + w.up),
                 .context = scale.of(w.context),
                 .core = attention_core(s, a, scale),
                 .ffn = scale.of(matrix_count(ffn) * dense_width(ffn, s.plan.tp))};
  if (a.qk_norm) out.projected += scale.of(w.query + w.key);  // before their norms
  if (s.software.dropout) out.masks = scale.plain(2 * kMask * hidden);
  if (ffn.sparse()) {
    // Tokens that reach the experts of a rank: etp ranks gather what each of them was sent.
    const double visits = double(ffn.active) * scale.part;
    out.routed = scale.plain(2 * kFp32 * double(ffn.experts) * scale.part) +
                 scale.of(visits * double(s.plan.etp) * scale.hidden) +
                 scale.of(visits * kInsideExpert * double(ffn.expert_width));
  }
  return out;
}

LayerActivations activations(const plan::TrainingConfig& s, const model::Layer& layer) {
  const Scale scale(s);
  const SavedLayer all = saved(s, layer);
  const model::FeedForward& ffn = layer.ffn;
  const double inside = ffn.sparse() ? double(ffn.active) * double(ffn.expert_width) * scale.part
                                     : dense_width(ffn, s.plan.tp);
  LayerActivations out{.kept = all.total(),
                       .input = scale.of(scale.part * scale.hidden),
                       .whole = all.total(),
                       .core = {},
                       .gradients = scale.of(matrix_count(ffn) * inside + scale.hidden)};
  if (s.plan.recompute != plan::Recompute::selective) return out;
  const bool by_op = s.software.recomputes_ops;
  const Bytes dropped = ffn.sparse() ? dropped_by_module(s, layer, all, scale) : all.core;
  out.kept = by_op ? kept_by_op(s, layer, scale) : all.total() - dropped;
  out.core = by_op ? all.total() : dropped;
  return out;
}

LayerActivations mtp_activations(const plan::TrainingConfig& s) {
  const Scale scale(s);
  LayerActivations out = activations(s, s.model.runs.back().layer);
  const Bytes halves = scale.of(4 * scale.part * scale.hidden);
  out.kept += halves;
  out.whole += halves;
  out.input += out.input;  // the hidden states, and the embedded next tokens
  return out;
}

LayerMatrices matrices(const plan::TrainingConfig& s, const model::Layer& layer) {
  const double hidden = double(s.model.hidden);
  const model::Attention& a = layer.attention;
  const model::FeedForward& ffn = layer.ffn;
  const Widths w = widths(a, s.plan.tp);
  LayerMatrices out;
  if (a.kind == model::Attention::Kind::latent) {
    const double q_in = a.q_rank > 0 ? double(a.q_rank) : hidden;
    out.attention =
        hidden * w.latent + q_in * w.query + double(a.kv_rank) * w.up + w.context * hidden;
  } else {
    out.attention = hidden * (w.query + w.key + w.value + w.context);
  }
  const double expert = ffn.sparse() ? double(ffn.expert_width) / double(s.plan.etp) : 0;
  out.ffn = matrix_count(ffn) * hidden * (dense_width(ffn, s.plan.tp) + expert);
  return out;
}

}  // namespace rankwright::cost
