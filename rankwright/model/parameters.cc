#include "rankwright/model/parameters.h"

namespace rankwright::model {
namespace {

// P1, grouped:  2 h H d + 2 h K d   (+ (H + 2 K) d for Q, K, V biases, + h for the output's)
// P2, latent:   query  h r_q + r_q H (n + r), or h H (n + r) without a rank
//               + h (r_kv + r) + r_kv H (n + v) + H v h
i64 attention_parameters(i64 h, const Attention& a) {
  if (a.kind == Attention::Kind::latent) {
    const i64 query =
        a.q_rank > 0 ? h * a.q_rank + a.q_rank * a.query_width() : h * a.query_width();
    const i64 down = h * (a.kv_rank + a.rope_dim);
    const i64 up = a.kv_rank * a.heads * (a.nope_dim + a.value_dim);
    return query + down + up + a.value_width() * h;
  }
  const i64 qkv_width = a.query_width() + 2 * a.key_width();
  return h * qkv_width + a.value_width() * h + (a.qkv_bias ? qkv_width : 0) + (a.out_bias ? h : 0);
}

// P3: `matrices` of h x w. The bias of the last matrix has h elements, the others have w.
i64 mlp_parameters(i64 h, i64 width, const FeedForward& f) {
  return f.matrices * h * width + (f.bias ? (f.matrices - 1) * width + h : 0);
}

// Counts the norms inside attention: on the heads of Q and K, or on the two compressed vectors.
i64 inner_norms(const Attention& a) {
  if (a.kind == Attention::Kind::latent) return a.q_rank + a.kv_rank;
  return a.qk_norm ? 2 * a.head_dim : 0;
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
  return *this;
}

Parameters operator*(i64 n, const Parameters& p) {
  return {.embedding = n * p.embedding,
          .attention = n * p.attention,
          .mlp = n * p.mlp,
          .router = n * p.router,
          .experts = n * p.experts,
          .norms = n * p.norms,
          .head = n * p.head};
}

Parameters count_parameters(const Model& model, const Layer& layer) {
  const i64 h = model.hidden;
  const FeedForward& f = layer.ffn;
  Parameters p{.attention = attention_parameters(h, layer.attention),
               .norms = layer.norms * norm(model) + inner_norms(layer.attention)};
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

// P5: V h (+ P h learned positions) + the layers + the last norm + V h for the head unless tied.
Parameters count_parameters(const Model& model) {
  Parameters p{
      .embedding = (model.vocab + model.positions) * model.hidden,
      .norms = norm(model),
      .head = (model.tied ? 0 : model.vocab * model.hidden) + (model.head_bias ? model.vocab : 0)};
  for (const LayerRun& run : model.runs) p += run.count * count_parameters(model, run.layer);
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
