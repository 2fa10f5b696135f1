#include "rankwright/cost/memory/rank_load.h"

#include <algorithm>
#include <utility>

#include "rankwright/pipeline/order.h"
#include "rankwright/plan/adapters.h"
#include "rankwright/plan/encoder.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/messages.h"

namespace rankwright::cost {
namespace {

/// Returns the size of an fp32 number over that of an activation.
double find_widening(const plan::TrainingConfig& config) {
  constexpr double kFp32Bytes = 4;
  return std::max(1.0, kFp32Bytes / double(config.job.activation_bytes()));
}

/// Returns what the last norm and the output head of transformers keep (M33): the norm's input in
/// fp32 and, if they are trained, the normalized tensor and the head's input.
Bytes count_head_inputs(const plan::TrainingConfig& config, Bytes hidden) {
  return (find_widening(config) + (trains_head(config) ? 1 : 0) +
          (trains_head_weight(config) ? 1 : 0)) *
         hidden;
}

}  // namespace

RankLoads::RankLoads(const plan::TrainingConfig& config)
    : config_(config),
      shape_(make_pipeline_shape(config)),
      vee_(row(config.plan.schedule).stage_order == pipeline::StageOrder::vee),
      mirrored_(config.plan.mirrored()),
      stages_(config.stages()),
      embedding_(plan::count_embedding_share(config.model, config.plan.tp)),
      head_(plan::count_head_share(config.model, config.plan.tp, true)),
      tied_head_(plan::count_head_share(config.model, config.plan.tp, false)),
      vocabulary_(plan::count_vocabulary_weight(config.model, config.plan.tp)),
      apart_(config.plan.pp > 1 && has_vocabulary_copies(config, stages_)),
      dense_spread_(config.plan.shards() > 1 || config.plan.offload.parameters),
      expert_spread_(config.plan.expert_dp() > 1 || config.plan.offload.parameters) {
  const model::Model& model = config.model;
  const plan::Plan& plan = config.plan;
  kinds_.reserve(model.runs.size());
  i64 end = 0;
  for (const model::LayerRun& run : model.runs) {
    end += run.count;
    std::size_t same = 0;  // an earlier run of equal layers
    while (model.runs[same].layer != run.layer) ++same;
    if (same < kinds_.size()) {
      kinds_.push_back(kinds_[same]);
      kinds_.back().end = end;
      continue;
    }
    const plan::Share share = count_layer_share(model, run.layer, plan);
    const plan::Share trained =
        has_frozen_weights(config) ? count_trained_share(config, run.layer) : share;
    kinds_.push_back({.end = end,
                      .sparse = run.layer.ffn.sparse(),
                      .share = share,
                      .trained = trained,
                      .sharded = sharded(share),
                      .sharded_trained = sharded(trained),
                      .activations = activations(config, run.layer),
                      .matrices = trains_weights(config, run.layer) ? matrices(config, run.layer)
                                                                    : LayerMatrices{}});
  }
  if (model.mtp_layers > 0) {
    mtp_ = kinds_.back();  // like the last layer, plus a projection
    mtp_.share = count_mtp_share(config);
    mtp_.sharded = sharded(mtp_.share);
    mtp_.trained = count_trained_mtp_share(config);
    mtp_.sharded_trained = sharded(mtp_.trained);
    mtp_.activations = compute_mtp_activations(config);
  }
  if (runs_encoder(config) && trains_encoder(config)) {
    const plan::TrainingConfig encoder = make_encoder_config(config);
    encoder_ = activations(encoder, encoder.model.runs.front().layer);
  }
  if (config.software.keeps_outputs && plan.pp > 1) output_ = compute_messages(config).kept;
  const plan::Messages sizes = compute_messages(config);
  // Also the inputs of the last norm and the head; backward does not read that of a frozen head.
  const i64 inputs = !trains_head_weight(config) && config.software.bare ? 1 : 2;
  if (config.software.keeps_logits)
    logits_ =
        (1 + model.mtp_layers) *
        (double(plan::count_vocabulary_rows(model, plan.tp)) * sizes.scores + inputs * sizes.kept);
  if (config.software.eager_ops)  // M29
    head_inputs_ = config.software.hf_modeling ? count_head_inputs(config, sizes.hidden)
                                               : sizes.kept + sizes.hidden;
  before_.reserve(stages_.size());
  i64 before = 0;
  for (const plan::Stage& stage : stages_) {
    before_.push_back(before);
    before += stage.layers;
  }
  chunks_.resize(std::size_t(plan.mirrored() ? 2 : plan.virtual_stages));
  if (plan.offload.activations) offloaded_.resize(chunks_.size());
  if (config.software.hf_modeling && !plan.offload.activations) {
    casts_.resize(chunks_.size());
    wide_inputs_.resize(chunks_.size());
    if (trains_head_weight(config)) head_casts_ = (find_widening(config) - 1) * sizes.hidden;
  }
}

// Equal to stages_of(plan, pp_rank)[chunk], without a vector.
i64 RankLoads::stage_of(i64 pp_rank, i64 chunk) const {
  const i64 mirrored = shape_.pp - 1 - pp_rank;
  if (mirrored_) return chunk == 0 ? std::min(pp_rank, mirrored) : std::max(pp_rank, mirrored);
  const bool back = vee_ && chunk % 2 == 1;
  return chunk * shape_.pp + (back ? mirrored : pp_rank);
}

bool RankLoads::same_as_previous(i64 pp_rank) const {
  const auto kind_at = [&](i64 layer) {
    return std::partition_point(kinds_.begin(), kinds_.end(),
                                [&](const Kind& each) { return each.end <= layer; });
  };
  for (i64 k = 0; k < i64(chunks_.size()); ++k) {
    const i64 here = stage_of(pp_rank, k), there = stage_of(pp_rank - 1, k);
    const plan::Stage& at = stage(here);
    if (at != stage(there)) return false;
    if (kinds_.size() == 1) continue;
    const i64 first = std::min(first_layer(here), first_layer(there));
    const i64 last = std::max(first_layer(here), first_layer(there)) + at.layers - 1;
    if (kind_at(first) != kind_at(last)) return false;
  }
  return true;
}

i64 RankLoads::sharded(const plan::Share& share) const {
  return (dense_spread_ ? share.dense : 0) + (expert_spread_ ? share.expert : 0);
}

double RankLoads::add(RankLoad& load, const Kind& kind, i64 count, i64 again) const {
  const LayerActivations& a = kind.activations;
  load.layers += count;
  load.share += count * kind.share;
  load.trained += count * kind.trained;
  load.largest_layer = std::max(load.largest_layer, kind.sharded);
  load.sharded_trained += count * kind.sharded_trained;
  load.largest_trained_layer = std::max(load.largest_trained_layer, kind.sharded_trained);
  load.brought_back = std::max(load.brought_back, again > 0 ? a.whole : a.core);
  load.gradients = std::max(load.gradients, a.gradients);
  load.attention = std::max(load.attention, kind.matrices.attention);
  double& ffn = kind.sparse ? load.sparse : load.dense;
  ffn = std::max(ffn, kind.matrices.ffn);
  return (again * a.input + (count - again) * a.kept).value;
}

double RankLoads::offload(RankLoad& load, const Kind& kind, i64 again) const {
  if (again == 0) return 0;
  constexpr i64 kStay = 2;
  const Bytes input = kind.activations.input;
  load.brought_back = std::max(load.brought_back, kind.activations.whole + kStay * input);
  return (again * input).value;
}

double RankLoads::add_encoder(RankLoad& load, std::size_t chunk) {
  const double layers = double(config_.model.encoder_layers);
  const bool again = recomputes_everything(config_.plan);
  load.brought_back = std::max(load.brought_back, again ? encoder_.whole : encoder_.core);
  load.gradients = std::max(load.gradients, encoder_.gradients);
  if (!casts_.empty()) {
    if (again) load.layer_casts = std::max(load.layer_casts, encoder_.casts);
    casts_[chunk] += again ? 0 : layers * encoder_.casts.value;
    wide_inputs_[chunk] += again ? layers * encoder_.wide_input.value : 0;
  }
  return layers * (again ? encoder_.input : encoder_.kept).value;
}

void RankLoads::add_layers(RankLoad& load, i64 pp_rank) {
  std::fill(offloaded_.begin(), offloaded_.end(), 0.0);
  std::fill(casts_.begin(), casts_.end(), 0.0);
  std::fill(wide_inputs_.begin(), wide_inputs_.end(), 0.0);
  const auto add_run = [&](std::size_t k, const Kind& kind, i64 count, i64 again) {
    chunks_[k] += add(load, kind, count, again);
    if (!casts_.empty()) {
      const LayerActivations& a = kind.activations;
      if (again > 0) load.layer_casts = std::max(load.layer_casts, a.casts);
      casts_[k] += ((count - again) * a.casts).value;
      wide_inputs_[k] += (again * a.wide_input).value;
    }
    if (offloaded_.empty()) return;
    const double moved = offload(load, kind, again);
    chunks_[k] -= moved;
    offloaded_[k] += moved;
  };
  for (std::size_t k = 0; k < chunks_.size(); ++k) {
    const i64 s = stage_of(pp_rank, i64(k));
    const plan::Stage& at = stage(s);
    chunks_[k] = output_.value + (at.loss ? (logits_ + head_inputs_).value : 0);
    if (!casts_.empty() && at.loss) casts_[k] = head_casts_.value;
    if (at.embedding) chunks_[k] += add_encoder(load, k);
    i64 from = first_layer(s);
    const i64 end = from + at.layers;
    auto kind = std::partition_point(kinds_.begin(), kinds_.end(),
                                     [&](const Kind& each) { return each.end <= from; });
    for (; from < end; ++kind) {
      const i64 count = std::min(end, kind->end) - from;
      const i64 before = from - first_layer(s);
      add_run(k, *kind, count, count_recomputed_layers(config_.plan, before, count));
      from += count;
    }
    if ((at.embedding || at.mtp > 0) && !load.embeds) embedding_chunk_ = k;
    load.encodes = load.encodes || at.embedding;
    load.embeds = load.embeds || at.embedding || at.mtp > 0;
    load.loss = load.loss || at.loss;
  }
  if (config_.model.mtp_layers == 0) return;
  for (std::size_t k = 0; k < chunks_.size(); ++k) {
    const i64 modules = stage(stage_of(pp_rank, i64(k))).mtp;
    if (modules > 0) add_run(k, mtp_, modules, recomputes_everything(config_.plan) ? modules : 0);
  }
}

void RankLoads::add_edges(RankLoad& load) const {
  // The largest unit of an edge; the vocabulary weight may be a unit of its own.
  const auto largest = [&](const plan::Share& edge, bool vocabulary) {
    const i64 all = sharded(edge), weight = sharded(vocabulary_);
    return apart_ && vocabulary ? std::max(weight, all - weight) : all;
  };
  const auto add_trained = [&](const plan::Share& edge, bool vocabulary) {
    load.trained += edge;
    load.sharded_trained += sharded(edge);
    load.largest_trained_edge = std::max(load.largest_trained_edge, largest(edge, vocabulary));
  };
  if (load.embeds) {
    load.share += embedding_;
    load.edges = sharded(embedding_);
    load.largest_edge = largest(embedding_, true);
    if (trains_embedding(config_)) add_trained(embedding_, true);
  }
  if (load.encodes && config_.model.encoder_parameters > 0)
    for (const plan::Unit& unit : list_encoder_units(config_)) {
      load.share += unit.count * unit.share;
      load.largest_edge = std::max(load.largest_edge, sharded(unit.share));
      if (!unit.trained) continue;
      load.trained += unit.count * unit.share;
      load.sharded_trained += unit.count * sharded(unit.share);
      load.largest_trained_edge = std::max(load.largest_trained_edge, sharded(unit.share));
    }
  if (!load.loss) return;
  const bool tied = config_.model.tied;
  const plan::Share& head = tied && load.embeds ? tied_head_ : head_;
  load.share += head;
  load.edges += sharded(head);
  load.largest_edge = std::max(load.largest_edge, largest(head, tied && !load.embeds));
  if (config_.job.frozen()) return;
  const bool own_weight = !(tied && load.embeds);
  add_trained(count_trained_head_share(config_, own_weight),
              tied && own_weight && trains_embedding(config_));
}

RankLoad RankLoads::of(i64 pp_rank) {
  RankLoad load{.pp_rank = pp_rank};
  embedding_chunk_ = 0;
  add_layers(load, pp_rank);
  add_edges(load);
  load.sharded = sharded(load.share);
  load.embedding_chunk = {chunks_[embedding_chunk_]};
  load.held = Bytes{pipeline::max_held(shape_, pp_rank, chunks_)} + held_by_overlap(pp_rank);
  if (!casts_.empty()) {
    load.casts = {pipeline::max_held(shape_, pp_rank, casts_)};
    load.wide_inputs = {pipeline::max_held(shape_, pp_rank, wide_inputs_)};
  }
  if (!offloaded_.empty()) load.offloaded = {pipeline::max_held(shape_, pp_rank, offloaded_)};
  return load;
}

// Megatron-LM runs the forward of one microbatch beside the backward of another. Interleaved, it
// starts one forward more before the first pair; with one stage, a pair is one layer of each.
Bytes RankLoads::held_by_overlap(i64 pp_rank) const {
  const plan::Plan& plan = config_.plan;
  if (!plan.overlap.ep || !config_.model.sparse() || shape_.microbatches == 1) return {};
  if (shape_.stages() == 1) {
    Bytes most;
    for (const Kind& kind : kinds_)
      most = std::max(most, plan.recompute == plan::Recompute::full && plan.recompute_layers == 0
                                ? kind.activations.input
                                : kind.activations.kept);
    return most;
  }
  const bool more = plan.schedule == pipeline::Schedule::interleaved &&
                    pipeline::max_in_flight(shape_, pp_rank) < shape_.chunks * shape_.microbatches;
  return {more ? *std::max_element(chunks_.begin(), chunks_.end()) : 0.0};
}

bool RankLoads::even_chunks() const {
  return config_.plan.recompute_layers == 0 &&
         std::all_of(chunks_.begin(), chunks_.end(), [&](double one) { return one == chunks_[0]; });
}

std::vector<RankLoad> RankLoads::peak_candidates() {
  std::vector<RankLoad> loads{of(0)};
  const bool loop = row(config_.plan.schedule).stage_order == pipeline::StageOrder::loop;
  i64 in_flight = pipeline::max_in_flight(shape_, 0);
  for (i64 r = 1; r < shape_.pp; ++r) {
    const i64 before = std::exchange(in_flight, pipeline::max_in_flight(shape_, r));
    // If chunks differ, it matters in which of them the microbatches are.
    if ((loop || even_chunks()) && same_as_previous(r) && in_flight <= before) continue;
    loads.push_back(of(r));
  }
  return loads;
}

}  // namespace rankwright::cost
