#include "rankwright/plan/shares.h"

#include <algorithm>
#include <limits>

#include "rankwright/model/parameters.h"
#include "rankwright/plan/adapters.h"
#include "rankwright/plan/frozen.h"

namespace rankwright::plan {
namespace {

/// Parameters on one tp rank: its slice of the tensors split over tp, and the tensors that every tp
/// rank holds.
struct TpSplit {
  i64 split = 0;
  i64 whole = 0;
};

/// Returns whether every head of Q and K has the same norm weights.
bool has_head_norms(const model::Attention& a) { return a.qk_norm && !a.wide_norm; }

TpSplit attention_split(const model::Model& model, const model::Attention& a, i64 tp) {
  const i64 h = model.hidden;
  if (!a.present()) return {};
  if (a.recurrent()) {
    // Heads are split, with their channels of the convolution; keys repeat if there are fewer heads
    // of them than ranks.
    const i64 value = ceil_div(a.value_width(), tp);
    const i64 key = ceil_div(a.kv_heads, tp) * a.state;
    const i64 channels = a.conv > 0 ? 2 * key + value : 0;
    const i64 heads = ceil_div(a.heads, tp);
    const bool delta = a.kind == model::Attention::Kind::delta;
    const bool mamba = a.kind == model::Attention::Kind::mamba;
    const i64 projected = 2 * key + 2 * value + (delta ? 2 : mamba ? 1 : 0) * heads;
    const i64 vectors = (delta   ? 2
                         : mamba ? 3
                                 : 0) *
                            heads +
                        (a.qkv_bias ? projected : 0) + (a.conv_bias ? channels : 0) +
                        (delta ? 0 : value);
    return {.split = h * (projected + value) + a.conv * channels + vectors,
            .whole = (a.out_bias ? h : 0) + (delta ? a.head_dim : 0)};
  }
  if (a.kind == model::Attention::Kind::latent) {
    // Every tp rank holds the down-projections to the latent widths; the rest is split by heads.
    const i64 qk = a.heads * (a.nope_dim + a.rope_dim);
    const i64 q_down = a.q_rank > 0 ? h * a.q_rank + a.q_rank : 0;
    const i64 q_up = (a.q_rank > 0 ? a.q_rank : h) * qk;
    const i64 kv_down = h * (a.kv_rank + a.rope_dim) + a.kv_rank;
    const i64 kv_up = a.kv_rank * a.heads * (a.nope_dim + a.value_dim);
    const i64 out = a.heads * a.value_dim * h;
    const i64 indexer = a.index_heads > 0
                            ? (a.q_rank > 0 ? a.q_rank : h) * a.index_heads * a.index_dim +
                                  h * (a.index_dim + a.index_heads) + 2 * a.index_dim
                            : 0;
    return {.split = ceil_div(q_up + kv_up + out, tp), .whole = q_down + kv_down + indexer};
  }
  const i64 query = ceil_div(a.heads * a.head_dim, tp);
  const i64 key = ceil_div(a.kv_heads, tp) * a.head_dim;  // heads repeat if fewer than ranks
  const i64 bias = a.qkv_bias ? query + 2 * key : 0;
  const i64 more = (a.gated ? h * query : 0) + (a.sinks ? ceil_div(a.heads, tp) : 0) +
                   (a.wide_norm ? query + key : 0);
  return {.split = 2 * h * query + 2 * h * key + bias + more,
          .whole = (a.out_bias ? h : 0) + (has_head_norms(a) ? 2 * a.head_dim : 0)};
}

/// Splits a dense feed-forward of `width`: every matrix along its wide side; the bias after the
/// last is not split.
TpSplit mlp_split(const model::Model& model, const model::FeedForward& ffn, i64 width, i64 tp) {
  if (width == 0) return {};
  const i64 slice = ceil_div(width, tp);
  return {
      .split = ffn.matrices * model.hidden * slice + (ffn.bias ? (ffn.matrices - 1) * slice : 0),
      .whole = ffn.bias ? model.hidden : 0};
}

i64 norm_parameters(const model::Model& model) { return model.hidden * (model.norm_bias ? 2 : 1); }

/// Adds the weights and biases of `count` norms.
void add_norms(std::vector<i64>& sizes, const model::Model& model, i64 count) {
  sizes.insert(sizes.end(), std::size_t(count * (model.norm_bias ? 2 : 1)), model.hidden);
}

/// Returns the holdings of a rank's chunks, which run `stages`. `copies`: a vocabulary weight is
/// set apart.
std::vector<Holding> make_holdings(const TrainingConfig& config, const std::vector<i64>& stages,
                                   const std::vector<const RankContents*>& chunks, bool copies) {
  constexpr i64 kNone = std::numeric_limits<i64>::max();
  i64 embedding_stage = kNone;  // earliest stage that embeds
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (chunks[i]->embeds()) embedding_stage = std::min(embedding_stage, stages[i]);
  const model::Model& model = config.model;
  std::vector<Holding> list;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Holding held{.embedding = stages[i] == embedding_stage,
                 .head_weight = chunks[i]->loss && !(model.tied && embedding_stage != kNone)};
    if (config.job.frozen()) {
      held.share = count_adapter_share(config, *chunks[i]);
      list.push_back(held);
      continue;
    }
    for (const model::LayerRun& run : chunks[i]->runs)
      held.share += run.count * count_trained_share(config, run.layer);
    if (chunks[i]->mtp > 0) held.share += chunks[i]->mtp * count_trained_mtp_share(config);
    if (chunks[i]->embedding && trains_encoder(config))
      held.share += count_encoder_share(model, config.plan.tp);
    if (held.embedding && trains_embedding(config))
      held.share += count_embedding_share(model, config.plan.tp);
    if (chunks[i]->loss) held.share += count_trained_head_share(config, held.head_weight);
    const bool vocabulary = held.embedding || (model.tied && held.head_weight);
    if (copies && vocabulary && trains_embedding(config))
      held.apart = count_vocabulary_weight(model, config.plan.tp).dense;
    list.push_back(held);
  }
  return list;
}

/// Returns whether the output head or an MTP module reads the embedding's weight. Else one stage
/// holds it, and the others need not be asked: there may be thousands.
bool shares_vocabulary(const model::Model& model) { return model.tied || model.mtp_layers > 0; }

}  // namespace

i64 count_vocabulary_rows(const model::Model& model, i64 tp) { return ceil_div(model.vocab, tp); }

Share count_vocabulary_weight(const model::Model& model, i64 tp) {
  return {.dense = count_vocabulary_rows(model, tp) * model.hidden};
}

i64 count_nvme_buffer(const TrainingConfig& config) {
  return std::max(kNvmeBuffer, ceil_div(count_vocabulary_weight(config.model, config.plan.tp).dense,
                                        std::max<i64>(1, config.plan.shards())));
}

bool has_vocabulary_copies(const TrainingConfig& config) {
  return shares_vocabulary(config.model) && config.plan.pp > 1 &&
         has_vocabulary_copies(config, config.stages());
}

bool has_vocabulary_copies(const TrainingConfig& config, const Stages& stages) {
  if (!shares_vocabulary(config.model)) return false;
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  i64 holder = -1;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Stage& stage = stages[s];
    if (!stage.embedding && stage.mtp == 0 && !(config.model.tied && stage.loss)) continue;
    i64 rank = pipeline::find_pp_rank(shape, i64(s), 0);
    if (config.plan.mirrored()) rank = std::min(rank, shape.pp - 1 - rank);
    if (holder >= 0 && rank != holder) return true;
    holder = rank;
  }
  return false;
}

Share count_layer_share(const model::Model& model, const model::Layer& layer, const Plan& plan) {
  const model::FeedForward& ffn = layer.ffn;
  const i64 shared_width = ffn.sparse() ? ffn.shared_width : ffn.width;
  const TpSplit attention = attention_split(model, layer.attention, plan.tp);
  const TpSplit mlp = mlp_split(model, ffn, shared_width, plan.tp);
  const i64 router = ffn.sparse()
                         ? model.hidden * ffn.experts + (ffn.router_bias ? ffn.experts : 0) +
                               (ffn.shared_gate && ffn.shared_width > 0 ? model.hidden : 0)
                         : 0;
  const i64 norms = layer.norms * norm_parameters(model);
  Share share;
  share.sequence_shared = attention.whole + mlp.whole + router + norms;
  if (has_head_norms(layer.attention)) share.head_norms = 2 * layer.attention.head_dim;
  share.dense = attention.split + mlp.split + share.sequence_shared;
  if (ffn.sparse()) {
    const TpSplit expert = mlp_split(model, ffn, ffn.expert_width, plan.etp);
    share.expert = ceil_div(ffn.experts, plan.ep) * (expert.split + expert.whole);
  }
  return share;
}

Share count_embedding_share(const model::Model& model, i64 tp) {
  Share share = count_vocabulary_weight(model, tp);
  share.dense += model.positions * model.hidden;
  return share;
}

Share count_encoder_share(const model::Model& model, i64 tp) {
  return {.dense = ceil_div(model.encoder_parameters, tp)};
}

Share count_mtp_share(const TrainingConfig& config) {
  const model::Model& model = config.model;
  Share share = count_layer_share(model, model.runs.back().layer, config.plan);
  const i64 norms = 3 * norm_parameters(model);
  share.dense += ceil_div(2 * model.hidden, config.plan.tp) * model.hidden + norms;
  share.sequence_shared += norms;
  return share;
}

Share count_head_share(const model::Model& model, i64 tp, bool own_weight) {
  Share share{.dense = norm_parameters(model), .sequence_shared = norm_parameters(model)};
  if (model.head_bias) share.dense += count_vocabulary_rows(model, tp);
  if (own_weight) share += count_vocabulary_weight(model, tp);
  return share;
}

Share count_trained_head_share(const TrainingConfig& config, bool own_weight) {
  const bool tied_weight = config.model.tied && own_weight && trains_embedding(config);
  Share share = tied_weight ? count_vocabulary_weight(config.model, config.plan.tp) : Share{};
  if (trains_head(config))
    share += count_head_share(config.model, config.plan.tp, own_weight && !config.model.tied);
  return share;
}

std::vector<Unit> list_encoder_units(const TrainingConfig& config) {
  const i64 all = count_encoder_share(config.model, config.plan.tp).dense;
  if (all == 0) return {};
  const i64 layers = std::max<i64>(1, config.model.encoder_layers);
  const i64 each = all / layers;
  const bool trained = trains_encoder(config);
  std::vector<Unit> list{{{.dense = all - (layers - 1) * each}, 1, trained, trained}};
  if (layers > 1 && each > 0) list.push_back({{.dense = each}, layers - 1, trained, trained});
  return list;
}

std::vector<Unit> list_units(const TrainingConfig& config, const RankContents& contents) {
  return list_units(config, contents, has_vocabulary_copies(config));
}

std::vector<Unit> list_units(const TrainingConfig& config, const RankContents& contents,
                             bool apart) {
  const model::Model& model = config.model;
  const i64 tp = config.plan.tp;
  std::vector<Unit> list;
  if (contents.embedding) list = list_encoder_units(config);
  const bool embedding = trains_embedding(config);
  const bool read = !skips_embedding(config);  // by backward
  const bool by_head = read || (model.tied && contents.loss);
  if (apart && (contents.embeds() || (contents.loss && model.tied)))
    list.push_back({count_vocabulary_weight(model, tp), 1, embedding, by_head});
  if (contents.embeds() && !apart)
    list.push_back({count_embedding_share(model, tp), 1, embedding, by_head});
  if (contents.embeds() && apart && model.positions > 0)
    list.push_back({{.dense = model.positions * model.hidden}, 1, embedding, read});
  for (const model::LayerRun& run : contents.runs)
    list.push_back({count_layer_share(model, run.layer, config.plan), run.count,
                    trains_weights(config, run.layer), runs_backward(config, run.layer)});
  if (contents.mtp > 0) {
    const model::Layer& last = model.runs.back().layer;
    list.push_back({count_mtp_share(config), contents.mtp, trains_weights(config, last),
                    runs_backward(config, last)});
  }
  const bool own_weight = !model.tied || !(contents.embeds() || apart);
  if (contents.loss)
    list.push_back({count_head_share(model, tp, own_weight), 1, trains_head(config)});
  return list;
}

i64 count_partial_gradients(const Plan& plan, const Share& share) {
  if (plan.tp == 1) return 0;
  return plan.sequence_parallel ? share.sequence_shared : share.head_norms;
}

bool reduces_weights_alone(const TrainingConfig& config) {
  return config.software.dtensor && config.plan.tp > 1 && !config.job.frozen();
}

std::vector<i64> list_partial_weights(const TrainingConfig& config, const model::Layer& layer) {
  const i64 h = config.model.hidden;
  const model::Attention& a = layer.attention;
  const model::FeedForward& ffn = layer.ffn;
  std::vector<i64> list;
  if (!trains_weights(config, layer)) return list;
  const auto add = [&](i64 count, i64 elements) {
    if (elements > 0) list.insert(list.end(), std::size_t(count), elements);
  };
  if (has_head_norms(a)) add(2, a.head_dim);
  if (!config.plan.sequence_parallel) return list;
  add_norms(list, config.model, layer.norms);
  if (a.kind == model::Attention::Kind::latent) {
    if (a.q_rank > 0) add(1, h * a.q_rank);
    add(1, a.q_rank);
    add(1, h * (a.kv_rank + a.rope_dim));
    add(1, a.kv_rank);
    if (a.index_heads > 0) {
      add(1, (a.q_rank > 0 ? a.q_rank : h) * a.index_heads * a.index_dim);
      add(1, h * a.index_dim);
      add(1, h * a.index_heads);
      add(2, a.index_dim);
    }
  } else if (a.present()) {
    add(a.out_bias ? 1 : 0, h);
    if (a.kind == model::Attention::Kind::delta) add(1, a.head_dim);
  }
  const i64 dense_width = ffn.sparse() ? ffn.shared_width : ffn.width;
  if (ffn.bias && dense_width > 0) add(1, h);
  if (ffn.sparse()) {
    add(1, h * ffn.experts);
    add(ffn.router_bias ? 1 : 0, ffn.experts);
    add(ffn.shared_gate && ffn.shared_width > 0 ? 1 : 0, h);
  }
  return list;
}

std::vector<i64> list_partial_mtp_weights(const TrainingConfig& config) {
  const model::Layer& last = config.model.runs.back().layer;
  std::vector<i64> list = list_partial_weights(config, last);
  if (config.plan.sequence_parallel && trains_weights(config, last))
    add_norms(list, config.model, 3);
  return list;
}

std::vector<i64> list_partial_head_weights(const TrainingConfig& config) {
  std::vector<i64> list;
  if (config.plan.sequence_parallel && trains_head(config)) add_norms(list, config.model, 1);
  return list;
}

Share count_rank_share(const TrainingConfig& config, i64 pp_rank) {
  return count_rank_share(config, contents(config, pp_rank));
}

Share count_rank_share(const TrainingConfig& config, const RankContents& on_rank) {
  Share sum;
  for (const Unit& unit : list_units(config, on_rank)) sum += unit.count * unit.share;
  return sum;
}

std::vector<Holding> list_chunk_holdings(const TrainingConfig& config, i64 pp_rank) {
  return list_chunk_holdings(config, pp_rank, list_chunk_contents(config, pp_rank),
                             config.plan.zero >= 1 && has_vocabulary_copies(config));
}

std::vector<Holding> list_chunk_holdings(const TrainingConfig& config, i64 pp_rank,
                                         const std::vector<RankContents>& contents, bool copies) {
  std::vector<const RankContents*> chunks;
  for (const RankContents& chunk : contents) chunks.push_back(&chunk);
  return make_holdings(config, list_stages(config.plan, pp_rank), chunks, copies);
}

std::vector<Holding> list_stage_holdings(const TrainingConfig& config) {
  const std::vector<RankContents> by_stage = list_stage_contents(config);
  std::vector<Holding> all(by_stage.size());
  const bool copies = config.plan.zero >= 1 && has_vocabulary_copies(config);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const std::vector<i64> stages = list_stages(config.plan, r);
    std::vector<const RankContents*> chunks;
    for (const i64 s : stages) chunks.push_back(&by_stage[std::size_t(s)]);
    const std::vector<Holding> of_rank = make_holdings(config, stages, chunks, copies);
    for (std::size_t i = 0; i < stages.size(); ++i) all[std::size_t(stages[i])] = of_rank[i];
  }
  return all;
}

i64 largest_unit(const TrainingConfig& config, const RankContents& on_rank) {
  const bool dense = config.plan.shards() > 1;
  const bool expert = config.plan.expert_dp() > 1;
  i64 largest = 0;
  for (const Unit& unit : list_units(config, on_rank))
    largest = std::max(largest, (dense ? unit.share.dense : 0) + (expert ? unit.share.expert : 0));
  return largest;
}

}  // namespace rankwright::plan
