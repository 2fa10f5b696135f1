#include "rankwright/plan/shares.h"

#include <algorithm>

#include "rankwright/model/parameters.h"

namespace rankwright {
namespace {

/// Attention: {split over tp, held by all of tp}.
struct Split {
  i64 split = 0;
  i64 whole = 0;
};

Split attention_split(const Model& model, const Attention& a, i64 tp) {
  const i64 h = model.hidden;
  if (a.kind == Attention::Kind::latent) {
    // The down-projections to the latent widths are whole on every tp rank, the rest is by heads.
    const i64 qk = a.heads * (a.nope_dim + a.rope_dim);
    const i64 q_down = a.q_rank > 0 ? h * a.q_rank + a.q_rank : 0;
    const i64 q_up = (a.q_rank > 0 ? a.q_rank : h) * qk;
    const i64 kv_down = h * (a.kv_rank + a.rope_dim) + a.kv_rank;
    const i64 kv_up = a.kv_rank * a.heads * (a.nope_dim + a.value_dim);
    const i64 out = a.heads * a.value_dim * h;
    return {.split = ceil_div(q_up + kv_up + out, tp), .whole = q_down + kv_down};
  }
  const i64 query = ceil_div(a.heads * a.head_dim, tp);
  const i64 key = ceil_div(a.kv_heads, tp) * a.head_dim;  // fewer heads than ranks: they repeat
  const i64 bias = a.qkv_bias ? query + 2 * key : 0;
  return {.split = 2 * h * query + 2 * h * key + bias,
          .whole = (a.out_bias ? h : 0) + (a.qk_norm ? 2 * a.head_dim : 0)};
}

/// A dense feed-forward of `width`: every matrix by its wide side; the bias behind the last is
/// whole.
Split mlp_split(const Model& model, const FeedForward& ffn, i64 width, i64 tp) {
  if (width == 0) return {};
  const i64 slice = ceil_div(width, tp);
  return {
      .split = ffn.matrices * model.hidden * slice + (ffn.bias ? (ffn.matrices - 1) * slice : 0),
      .whole = ffn.bias ? model.hidden : 0};
}

i64 norm_parameters(const Model& model) { return model.hidden * (model.norm_bias ? 2 : 1); }

Share embedding_share(const Model& model, i64 tp) {
  return {.dense = vocabulary_share(model, tp) * model.hidden + model.positions * model.hidden};
}

Share head_share(const Model& model, i64 tp) {
  return {.dense = vocabulary_share(model, tp) * model.hidden};
}

Share head_bias_share(const Model& model, i64 tp) {
  return {.dense = model.head_bias ? vocabulary_share(model, tp) : 0};
}

Share final_norm_share(const Model& model) {
  return {.dense = norm_parameters(model), .sequence_shared = norm_parameters(model)};
}

/// An MTP module: a layer like the last, a 2h -> h projection split over tp, three norms.
Share mtp_share(const Setup& setup) {
  const Model& model = setup.model;
  Share share = layer_share(model, model.runs.back().layer, setup.plan);
  const i64 norms = 3 * norm_parameters(model);
  share.dense += ceil_div(2 * model.hidden, setup.plan.tp) * model.hidden + norms;
  share.sequence_shared += norms;
  return share;
}

/// The parts of what a rank of `pp_rank` holds: visit(part, how many of them).
template <class Visit>
void for_each_part(const Setup& setup, i64 pp_rank, Visit visit) {
  const Model& model = setup.model;
  const RankContents on_rank = contents(setup, pp_rank);
  for (const LayerRun& run : on_rank.runs)
    visit(layer_share(model, run.layer, setup.plan), run.count);
  if (on_rank.mtp > 0) visit(mtp_share(setup), on_rank.mtp);
  if (on_rank.embeds()) visit(embedding_share(model, setup.plan.tp), 1);
  if (!on_rank.loss) return;
  visit(final_norm_share(model), 1);
  visit(head_bias_share(model, setup.plan.tp), 1);
  // A tied head is the embedding itself where both are on this rank, else a copy of it.
  if (!model.tied || !on_rank.embeds()) visit(head_share(model, setup.plan.tp), 1);
}

}  // namespace

Share& Share::operator+=(const Share& other) {
  dense += other.dense;
  expert += other.expert;
  sequence_shared += other.sequence_shared;
  return *this;
}

i64 vocabulary_share(const Model& model, i64 tp) { return ceil_div(model.vocab, tp); }

Share layer_share(const Model& model, const Layer& layer, const Plan& plan) {
  const FeedForward& ffn = layer.ffn;
  const i64 shared_width = ffn.sparse() ? ffn.shared_width : ffn.width;
  const Split attention = attention_split(model, layer.attention, plan.tp);
  const Split mlp = mlp_split(model, ffn, shared_width, plan.tp);
  const i64 router = ffn.sparse()
                         ? model.hidden * ffn.experts + (ffn.router_bias ? ffn.experts : 0) +
                               (ffn.shared_gate && ffn.shared_width > 0 ? model.hidden : 0)
                         : 0;
  const i64 norms = layer.norms * norm_parameters(model);
  Share share;
  share.sequence_shared = attention.whole + mlp.whole + router + norms;
  share.dense = attention.split + mlp.split + share.sequence_shared;
  if (ffn.sparse()) {
    const Split expert = mlp_split(model, ffn, ffn.expert_width, plan.etp);
    share.expert = ceil_div(ffn.experts, plan.ep) * (expert.split + expert.whole);
  }
  return share;
}

Share rank_share(const Setup& setup, i64 pp_rank) {
  Share sum;
  for_each_part(setup, pp_rank, [&](const Share& part, i64 times) {
    sum += {times * part.dense, times * part.expert, times * part.sequence_shared};
  });
  return sum;
}

i64 largest_unit(const Setup& setup, i64 pp_rank) {
  const bool dense = setup.plan.shards() > 1;
  const bool expert = setup.plan.expert_dp() > 1;
  i64 largest = 0;
  for_each_part(setup, pp_rank, [&](const Share& part, i64) {
    largest = std::max(largest, (dense ? part.dense : 0) + (expert ? part.expert : 0));
  });
  return largest;
}

}  // namespace rankwright
