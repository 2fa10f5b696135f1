#include "rankwright/model/parameters.h"

namespace rankwright::model {
namespace {

// The indexer of sparse attention: queries from the compressed queries, one key, head weights.
i64 indexer_weights(i64 h, const Attention& a) {
  if (a.index_heads == 0) return 0;
  const i64 q_in = a.q_rank > 0 ? a.q_rank : h;
  return q_in * a.index_heads * a.index_dim + h * a.index_dim + h * a.index_heads;
}

// Counts the parameters of attention that are neither matrices nor norms of the layer: biases,
// sinks, the indexer's norm, and per head the decay and time-step terms of a recurrence.
i64 attention_vectors(i64 h, const Attention& a) {
  i64 sum = (a.out_bias ? h : 0) + (a.sinks ? a.heads : 0);
  if (a.index_heads > 0) sum += 2 * a.index_dim;
  if (a.qkv_bias) sum += a.recurrent() ? a.projected_width() : a.query_width() + 2 * a.key_width();
  if (a.conv_bias) sum += a.conv_channels();
  if (a.kind == Attention::Kind::delta) sum += 2 * a.heads;
  if (a.kind == Attention::Kind::mamba) sum += 3 * a.heads;
  return sum;
}

// P3: `matrices` of h x w. The bias of the last matrix has h elements, the others have w.
i64 mlp_parameters(i64 h, i64 width, const FeedForward& f) {
  return f.matrices * h * width + (f.bias ? (f.matrices - 1) * width + h : 0);
}

// Counts the norms inside attention: on the heads of Q and K, or on the two compressed vectors.
// Recurrences: on the output, per head for the delta rule and over all heads otherwise.
i64 inner_norms(const Attention& a) {
  if (a.kind == Attention::Kind::latent) return a.q_rank + a.kv_rank;
  if (a.kind == Attention::Kind::delta) return a.head_dim;
  if (a.recurrent()) return a.value_width();
  if (!a.qk_norm) return 0;
  return a.wide_norm ? a.query_width() + a.key_width() : 2 * a.head_dim;
}

i64 norm(const Model& model) { return model.norm_bias ? 2 * model.hidden : model.hidden; }

}  // namespace

Parameters& Parameters::operator+=(const Parameters& other) {
  embedding += other.embedding;
  attention += other.attention;
  mlp += other.mlp;
  router += other.router;
  experts += other.experts;
  norms += other.norms;
  head += other.head;
  encoder += other.encoder;
  return *this;
}

Parameters operator*(i64 n, const Parameters& p) {
  return {.embedding = n * p.embedding,
          .attention = n * p.attention,
          .mlp = n * p.mlp,
          .router = n * p.router,
          .experts = n * p.experts,
          .norms = n * p.norms,
          .head = n * p.head,
          .encoder = n * p.encoder};
}

// P1, grouped:  2 h H d + 2 h K d   (+ h H d with an output gate)
// P2, latent:   query  h r_q + r_q H (n + r), or h H (n + r) without a rank
//               + h (r_kv + r) + r_kv H (n + v) + H v h   (+ the indexer)
// P8, recurrent: h (2 K n + 2 H d + per-head terms) + H d h + taps (2 K n + H d)
i64 count_attention_weights(i64 h, const Attention& a) {
  if (!a.present()) return 0;
  if (a.recurrent())
    return h * a.projected_width() + a.value_width() * h + a.conv * a.conv_channels();
  if (a.kind == Attention::Kind::latent) {
    const i64 query =
        a.q_rank > 0 ? h * a.q_rank + a.q_rank * a.query_width() : h * a.query_width();
    const i64 down = h * (a.kv_rank + a.rope_dim);
    const i64 up = a.kv_rank * a.heads * (a.nope_dim + a.value_dim);
    return query + down + up + a.value_width() * h + indexer_weights(h, a);
  }
  return h * (a.query_width() + 2 * a.key_width()) + a.value_width() * h +
         (a.gated ? h * a.query_width() : 0);
}

Parameters count_parameters(const Model& model, const Layer& layer) {
  const i64 h = model.hidden;
  const FeedForward& f = layer.ffn;
  Parameters p{.attention = count_attention_weights(h, layer.attention) +
                            attention_vectors(h, layer.attention),
               .norms = layer.norms * norm(model) + inner_norms(layer.attention)};
  if (!f.present()) return p;
  if (!f.sparse()) {
    p.mlp = mlp_parameters(h, f.width, f);
    return p;
  }
  // P4: a router row for each expert, the experts, and the shared experts.
  p.router = h * f.experts + (f.router_bias ? f.experts : 0);
  p.experts = f.experts * mlp_parameters(h, f.expert_width, f);
  if (f.shared_width > 0) p.mlp = mlp_parameters(h, f.shared_width, f) + (f.shared_gate ? h : 0);
  return p;
}

// P5: V h (+ P h learned positions) + the layers + the last norm (and one after the embedding) + V
// h for the head unless tied.
Parameters count_parameters(const Model& model) {
  Parameters p{
      .embedding = (model.vocab + model.positions) * model.hidden,
      .norms = (1 + model.embedding_norms) * norm(model),
      .head = (model.tied ? 0 : model.vocab * model.hidden) + (model.head_bias ? model.vocab : 0),
      .encoder = model.encoder_parameters};  // P9, counted by the reader
  for (const LayerRun& run : model.runs) p += run.count * count_parameters(model, run.layer);
  return p;
}

Parameters count_trained_parameters(const Model& model) {
  Parameters p = count_parameters(model);
  if (!model.frozen.any()) return p;
  if (model.frozen.encoder) p.encoder = 0;
  if (model.frozen.embedding) {
    p.embedding = 0;
    p.norms -= model.embedding_norms * norm(model);
  }
  if (model.frozen.head) {
    p.head = 0;
    p.norms -= norm(model);
  }
  for (const LayerRun& run : model.runs)
    if (run.layer.training != Training::full) p += -run.count * count_parameters(model, run.layer);
  return p;
}

// P6: per module a layer like the last, a 2h -> h projection and three norms.
Parameters count_mtp_parameters(const Model& model) {
  if (model.mtp_layers == 0) return {};
  Parameters p = count_parameters(model, model.runs.back().layer);
  p.mlp += 2 * model.hidden * model.hidden;
  p.norms += 3 * norm(model);
  return model.mtp_layers * p;
}

// P7: a token visits k of the E routed experts.
i64 count_active_parameters(const Model& model) {
  i64 idle = 0;
  for (const LayerRun& run : model.runs) {
    const FeedForward& f = run.layer.ffn;
    if (!f.sparse()) continue;
    idle += run.count * (f.experts - f.active) * mlp_parameters(model.hidden, f.expert_width, f);
  }
  return count_parameters(model).total() - idle;
}

}  // namespace rankwright::model
