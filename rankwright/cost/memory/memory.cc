#include "rankwright/cost/memory/memory.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/cost/memory/allocator.h"
#include "rankwright/cost/memory/rank_load.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/messages.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::cost {
namespace {

constexpr EntryRow kEntryRows[] = {
    {Entry::parameters, "parameters", "weights as the layers compute with them, after ZeRO", "M1",
     cluster::Origin::data_sheet},
    {Entry::gradients, "gradients", "gradient of every weight, after ZeRO", "M1",
     cluster::Origin::data_sheet},
    {Entry::optimizer, "optimizer", "fp32 copy and moments, after ZeRO", "M1",
     cluster::Origin::data_sheet},
    {Entry::reference, "reference model", "frozen weights of the reference model, after ZeRO",
     "M36", cluster::Origin::data_sheet},
    {Entry::activations, "activations", "what backward reads, of all micro-batches in flight", "M4",
     cluster::Origin::data_sheet},
    {Entry::recomputed_layer, "recomputed layer", "what running one layer again brings back", "M11",
     cluster::Origin::data_sheet},
    {Entry::layer_gradients, "layer gradients", "gradients inside one layer's feed-forward", "M12",
     cluster::Origin::data_sheet},
    {Entry::logits, "logits", "logits and what the loss makes of them", "M13",
     cluster::Origin::data_sheet},
    {Entry::head_gradient, "head gradient", "the output head's gradient, 16-bit, for a moment",
     "M14", cluster::Origin::data_sheet},
    {Entry::embedding_gradient, "embedding gradient",
     "the embedding's gradient, 16-bit and whole, for a moment", "M15",
     cluster::Origin::data_sheet},
    {Entry::gathered_units, "gathered units", "weights that ZeRO has gathered", "M16",
     cluster::Origin::data_sheet},
    {Entry::weight_copies, "weight copies",
     "weights cast to fewer bits, in the layouts of all passes", "M27",
     cluster::Origin::data_sheet},
    {Entry::reduce_scatter, "reduce-scatter", "gradients of a unit on their way to their shards",
     "M17", cluster::Origin::data_sheet},
    {Entry::sequence_gather, "sequence gather",
     "a block's input and its gradient, gathered over tp", "M18", cluster::Origin::data_sheet},
    {Entry::empty_gradients, "empty gradients", "one 16-bit tensor for each shape of weight", "M19",
     cluster::Origin::data_sheet},
    {Entry::buckets, "buckets", "communication buckets of the framework", "M20",
     cluster::Origin::data_sheet},
    {Entry::rotary_tables, "rotary tables", "of positions", "M29", cluster::Origin::data_sheet},
    {Entry::optimizer_temporaries, "optimizer temporaries",
     "of an update that is not fused into one kernel", "M32", cluster::Origin::data_sheet},
    {Entry::workspace, "workspace", "of matmul libraries", "M21", cluster::Origin::measured},
    {Entry::graph_pool, "graph pool", "tensors that CUDA graphs keep", "M28",
     cluster::Origin::calibrated},
    {Entry::reserve, "reserve", "held by the allocator beyond its tensors", "M22",
     cluster::Origin::calibrated},
    {Entry::context, "context", "driver and loaded kernels", "M23", cluster::Origin::assumed},
    {Entry::dispatch_buffers, "dispatch buffers", "tokens of all ep ranks, received and sent",
     "M35", cluster::Origin::data_sheet},
    {Entry::communicators, "communicators", "buffers of the collectives' library", "M24",
     cluster::Origin::calibrated},
};
static_assert(std::size(kEntryRows) == kEntries);

constexpr std::string_view kInstants[] = {"backward", "loss", "embedding", "update"};

constexpr double kGB = 1e9;

Bytes sum(const MemoryEstimate& estimate, Entry first, Entry last) {
  Bytes total;
  for (std::size_t e = std::size_t(first); e <= std::size_t(last); ++e)
    total += estimate.entries[e];
  return total;
}

/// Returns the bytes of a table of positions: one complex fp32 number per position and pair of
/// elements of a head (M29); in transformers a sine and a cosine per element (M33).
Bytes count_rotary_table(const plan::TrainingConfig& config) {
  constexpr i64 kFp32Bytes = 4;
  const model::Attention& a = config.model.runs.front().layer.attention;
  const i64 width = a.kind == model::Attention::Kind::latent ? a.rope_dim : a.head_dim;
  const i64 each = config.software.hf_modeling ? 2 * config.job.activation_bytes() : kFp32Bytes;
  return double(config.job.sequence) * bytes(width, each);
}

/// Returns the buffers that HybridEP registers for its peers (M35): a rank may receive the tokens
/// of all ep ranks, and its experts may send as many back, each with a probability per expert of
/// the NVLink domain. DeepEP's buffers do not grow with the tokens and are less than 1 GB.
Bytes count_dispatch_buffers(const plan::TrainingConfig& config, double tokens) {
  const plan::Plan& plan = config.plan;
  if (plan.ep == 1 || plan.dispatcher != plan::Dispatcher::hybridep) return {};
  constexpr double kProbability = 4;  // bytes, fp32
  i64 experts = 0;
  for (const model::LayerRun& run : config.model.runs)
    experts = std::max(experts, run.layer.ffn.experts);
  const i64 domain =
      config.cluster.levels.empty() ? plan.ep : std::min(plan.ep, config.cluster.levels[0].arity);
  const double near = double(experts) * double(domain) / double(plan.ep);
  const double own = sequence_parallel(plan) ? tokens / double(plan.tp) : tokens;
  const double each =
      double(config.job.activation_bytes()) * double(config.model.hidden) + kProbability * near;
  return {2 * own * double(plan.ep) * each};
}

/// Counts the communicators of a rank: world, tp and dp; two each for pp, cp and ep (ep has its own
/// data-parallel group).
i64 count_communicators(const plan::Plan& plan) {
  if (plan.ranks() == 1) return 0;
  return 1 + (plan.tp > 1) + (plan.dp > 1) + 2 * ((plan.pp > 1) + (plan.cp > 1) + (plan.ep > 1));
}

/// Returns the bytes per weight of the casts that the layers' matmuls read (M27): one layout for
/// the forward and one for the backward, unless the device multiplies either from one.
double kept_cast_bytes(const plan::TrainingConfig& config) {
  switch (config.job.matmul) {
    case plan::Matmul::same:
      return 0;
    case plan::Matmul::fp8:
      return config.cluster.device.generation == "blackwell" ? 1 : 2;
    case plan::Matmul::mxfp8:
      return 2 + 2 * plan::kBlockScale;
    case plan::Matmul::fp4:
      return 1 + 4 * plan::kBlockScale;
  }
  return 0;
}

/// Which of the additions of fp32 weights and adapters a rank of transformers has (M33).
struct WideFormats {
  bool casts = false, inputs = false;
};

/// Autocast leaves the hidden states of fp32 weights in fp32, and FSDP, which casts the weights,
/// does not. Adapters in fp32 cast their inputs, unless FSDP2 casts them; under other ZeRO they
/// leave the hidden states in fp32.
WideFormats find_wide_formats(const plan::TrainingConfig& config) {
  constexpr int kFsdp2 = 2025;  // the default of accelerate since then
  const plan::Software& software = config.software;
  if (config.job.frozen()) {
    const bool sharded = config.plan.zero >= 2;
    const bool cast = sharded && software.fsdp && software.year >= kFsdp2;
    const bool fp32 = !sharded && config.job.base_dtype == plan::BaseDtype::fp32;
    return {.casts = !cast, .inputs = (sharded && !cast) || fp32};
  }
  const bool wide = software.fsdp && config.plan.zero < 2 &&
                    count_state_bytes(config).weights > double(config.job.activation_bytes());
  return {.casts = wide, .inputs = wide};
}

/// Returns the gradients that FSDP adds up between the microbatches of a step, in the format that
/// it computes in, if it does not reduce them (M40).
Bytes count_whole_gradients(const plan::TrainingConfig& config, const RankLoad& load) {
  const plan::Accumulation kept = config.software.accumulation;
  const bool fsdp = config.software.fsdp && config.plan.zero >= 2 && config.plan.data_ranks() > 1;
  if (!fsdp || kept == plan::Accumulation::shards || config.microbatches() == 1) return {};
  const i64 each = std::min(config.job.activation_bytes(), config.job.grad_bytes());
  return bytes(kept == plan::Accumulation::all ? load.sharded : load.sharded_trained, each);
}

/// Estimates the memory of the pp ranks of one config. Values common to all pp ranks are computed
/// once.
class MemoryEstimator {
 public:
  MemoryEstimator(const plan::TrainingConfig& config, const cluster::Calibration& calibration)
      : config_(config),
        calibration_(calibration),
        activation_(config.job.activation_bytes()),
        wide_(find_wide_formats(config)),
        rotary_table_(count_rotary_table(config)),
        tokens_(compute_messages(config).hidden / bytes(config.model.hidden, activation_)),
        vocabulary_(double(plan::count_vocabulary_rows(config.model, config.plan.tp))) {}

  MemoryEstimate estimate(const RankLoad& load) const;

 private:
  void put_states(MemoryEstimate& out, const RankLoad& load) const;
  void put_fsdp(MemoryEstimate& out, const RankLoad& load) const;
  void put_casts(MemoryEstimate& out, const RankLoad& load) const;
  Bytes count_recomputed_casts(const MemoryEstimate& out, const RankLoad& load) const;
  Bytes count_logits_beside_casts(Bytes logits, Bytes recomputed) const;
  void put_transit(MemoryEstimate& out, const RankLoad& load) const;
  void put_instant(MemoryEstimate& out, const RankLoad& load, Bytes unreduced) const;
  void put_chunked_loss(MemoryEstimate& out, const RankLoad& load) const;
  Bytes count_absent_at_loss(const MemoryEstimate& out, const RankLoad& load) const;
  bool put_update(MemoryEstimate& out, const RankLoad& load, Bytes other, Bytes unreduced) const;
  Bytes count_other_instants(const MemoryEstimate& always, const MemoryEstimate& at_peak,
                             const RankLoad& load) const;
  void put_beyond(MemoryEstimate& out, Bytes elsewhere) const;
  /// Returns the bytes of the logits and of what the loss makes of them. Every MTP module has its
  /// own logits. Logits that are kept count as activations.
  Bytes count_logits() const {
    const plan::Software& software = config_.software;
    const double kept = software.keeps_logits ? double(config_.job.scalar_bytes()) : 0;
    const double each = std::max(0.0, bytes_per_logit(software.loss, config_.job) - kept);
    const double tokens = config_.job.loss_fraction() * tokens_;
    return (1 + config_.model.mtp_layers) * bytes(tokens * vocabulary_, each);
  }
  /// Returns what recomputation restores for the backward of one layer.
  Bytes brought_back(const RankLoad& load) const {
    return load.brought_back + (wide_.casts ? load.layer_casts : Bytes{});
  }

  const plan::TrainingConfig& config_;
  const cluster::Calibration& calibration_;
  i64 activation_;  // bytes per activation element
  WideFormats wide_;
  Bytes rotary_table_;  // of a layer, or of all layers
  double tokens_;       // of a microbatch on a cp rank
  double vocabulary_;   // vocabulary rows on a tp rank
};

/// Fills in the states of states.h, whose gathered units are M16.
void MemoryEstimator::put_states(MemoryEstimate& out, const RankLoad& load) const {
  const plan::Job& job = config_.job;
  const plan::Plan& plan = config_.plan;
  const StateCounts counts{
      .share = load.share,
      .trained = load.trained,
      .vocabulary = count_vocabulary(config_, load.embeds, load.loss),
      .trained_vocabulary = count_trained_vocabulary(config_, load.embeds, load.loss),
      .largest_unit = std::max(load.largest_layer, load.largest_edge),
      .largest_adapters = load.largest_trained_layer};
  const States all = compute_states(config_, counts);
  out[Entry::parameters] = all.parameters;
  out[Entry::gradients] = all.gradients;
  out[Entry::optimizer] = all.optimizer;
  out.host = all.host + load.offloaded;
  out.nvme = all.nvme;
  if (job.keeps_ref_weights()) {  // M36
    const Bytes weights =
        held(plan, load.share, double(job.param_bytes()), shards_weights(config_));
    const double kept = find_kept_on_device(config_).weights;
    out[Entry::reference] = kept * weights;
    out.host += (1 - kept) * weights;
  }
  if (config_.software.foreach_update)  // M32
    out[Entry::optimizer_temporaries] =
        find_kept_on_device(config_).optimizer *
        held(plan, counts.trained, job.moment_bytes(), plan.zero >= 1);
  if (config_.software.fsdp) return put_fsdp(out, load);
  out[Entry::gathered_units] = all.gathered;
  // The casts are kept for all microbatches. With fp8 parameters one of them is the parameter.
  if (plan.zero < 3 && !config_.software.bare && config_.cluster.device.fp8.value > 0) {
    const double each = kept_cast_bytes(config_) - (job.param_dtype == plan::Dtype::fp8 ? 1 : 0);
    const int matrices = int(load.embeds) + int(load.loss && !config_.model.tied);
    const double vocabulary = double(matrices) * vocabulary_ * double(config_.model.hidden);
    const double weights =
        std::max(0.0, double(load.share.dense) - vocabulary) + double(load.share.expert);
    out[Entry::weight_copies] = Bytes{std::max(0.0, each) * weights};
  }
  if (job.frozen()) return;  // the gradients of adapters are small
  // fp32 accumulation of 16-bit gradients holds both.
  if (config_.software.fp32_gradients && job.grad_bytes() > job.param_bytes())
    out[Entry::gradients] += held(plan, load.trained, double(job.param_bytes()), plan.zero >= 2);
  // Sharded gradients are computed unsharded, one unit at a time. DeepSpeed copies them into its
  // buckets; the runtime's buffers are in put_transit.
  if (plan.zero >= 2 && !config_.software.bare && config_.software.buckets == Bytes{})
    out[Entry::reduce_scatter] =
        bytes(std::max(load.largest_trained_layer, load.largest_trained_edge), job.grad_bytes());
}

/// Fills in what FSDP gathers and reduces. It keeps fp32 weight shards even if gathered weights are
/// not resharded (ZeRO-2), and gathers in the format of the activations, or in that of frozen
/// weights. In a pipeline, full gradients and the weights that a backward has gathered are held
/// until the last microbatch.
void MemoryEstimator::put_fsdp(MemoryEstimate& out, const RankLoad& load) const {
  const plan::Plan& plan = config_.plan;
  const StateBytes each = count_state_bytes(config_);
  const bool frozen = config_.job.frozen();
  if (plan.zero < 2 && find_kept_on_device(config_).weights > 0) {
    if (config_.software.hf_modeling && each.weights > double(activation_)) put_casts(out, load);
    return;
  }
  out[Entry::gathered_units] =
      bytes(plan.zero == 2 || plan.pp > 1 ? load.sharded : 2 * load.largest_layer + load.edges,
            frozen ? std::min(each.frozen, double(activation_)) : double(activation_));
  if (!frozen)
    out[Entry::reduce_scatter] =
        bytes(load.largest_trained_layer, each.gradients + double(activation_));
}

/// M33: the graph keeps what autocast casts to 16 bits: weights of matmuls, so not an embedding
/// that is not also the head. Recomputed layers are cast again; those of the forward pass are alive
/// until its end.
void MemoryEstimator::put_casts(MemoryEstimate& out, const RankLoad& load) const {
  const double table = vocabulary_ * double(config_.model.hidden);
  const double cast = double(load.share.total()) - (config_.model.tied ? 0 : table);
  if (!config_.job.frozen() || config_.job.base_dtype == plan::BaseDtype::fp32)
    out[Entry::weight_copies] = Bytes{double(activation_) * std::max(0.0, cast)};
  else if (config_.plan.recompute != plan::Recompute::full)
    out[Entry::weight_copies] = bytes(load.trained.total(), activation_);
}

/// Returns the casts of weights that the backward pass makes again: of all layers, or of the
/// feed-forwards that are recomputed. The graph does not keep those of the forward pass (M33).
Bytes MemoryEstimator::count_recomputed_casts(const MemoryEstimate& out,
                                              const RankLoad& load) const {
  const plan::Plan& plan = config_.plan;
  const Bytes casts = out[Entry::weight_copies];
  if (plan.recompute == plan::Recompute::full)
    return std::max(Bytes{},
                    casts - bytes(vocabulary_ * double(config_.model.hidden), activation_));
  const bool mlp = plan.recompute == plan::Recompute::selective && plan.modules.mlp &&
                   config_.software.hf_modeling && load.sparse == 0;
  return mlp ? std::min(casts, bytes(double(load.layers) * load.dense, activation_)) : Bytes{};
}

/// Returns the bytes of the logits, or less if the casts that are alive in the forward pass, when
/// the loss has made fewer tensors, are what fills the memory (M33).
Bytes MemoryEstimator::count_logits_beside_casts(Bytes logits, Bytes recomputed) const {
  constexpr double kForward = 10.0 / 12;  // 2 + 4 + 4 bytes: logits, their fp32 copy, log-softmax
  if (config_.software.loss != plan::Loss::log_softmax) return logits;
  return std::max(kForward * logits, logits - recomputed);
}

/// Fills in the buffers for reducing gradients to their shards, as the runtime allocates them (M17
/// and M20). ZeRO-2: a full bucket, plus the larger of two: at the start of the backward the
/// reduced shard and the first unit's gradients, later the gradients of a layer. ZeRO-3: a full
/// unit and its shard. Only what is trained has gradients, under LoRA the layers' adapters.
void MemoryEstimator::put_transit(MemoryEstimate& out, const RankLoad& load) const {
  const i64 each = config_.job.grad_bytes();
  const i64 shards = config_.plan.shards();
  const i64 layer = load.largest_trained_layer, edge = load.largest_trained_edge;
  if (config_.plan.zero == 2) {
    const i64 bucket = std::min(count_bucket_elements(config_.plan), load.sharded_trained);
    const i64 first = load.loss && trains_head_weight(config_) ? edge : layer;
    out[Entry::buckets] = bytes(bucket, each);
    out[Entry::reduce_scatter] = bytes(std::max(bucket / shards + first, layer), each);
  }
  if (config_.plan.zero == 3) {
    const i64 unit = std::max(layer, edge);
    out[Entry::reduce_scatter] = bytes(unit + unit / shards, each);
  }
}

/// Returns what FSDP holds in the backward pass and not at the loss, before that pass begins: the
/// layer that is gathered ahead, and gradients on their way to their shards (M25).
Bytes MemoryEstimator::count_absent_at_loss(const MemoryEstimate& out, const RankLoad& load) const {
  if (!config_.software.fsdp || config_.plan.zero < 3 || config_.plan.pp > 1) return {};
  const double weight =
      config_.job.frozen() ? count_state_bytes(config_).frozen : double(activation_);
  return bytes(load.largest_layer, weight) + out[Entry::reduce_scatter];
}

/// Fills in the entries that exist only at one of four instants (M11 to M15, M32), for the instant
/// with the largest sum (M25). `unreduced` is what gradients hold beside their shards until they
/// are reduced (M40).
void MemoryEstimator::put_instant(MemoryEstimate& out, const RankLoad& load,
                                  Bytes unreduced) const {
  const plan::Software& software = config_.software;
  const plan::Plan& plan = config_.plan;
  if (software.loss == plan::Loss::chunked && software.fsdp && plan.zero == 3 && plan.pp == 1 &&
      !has_frozen_weights(config_))
    return put_chunked_loss(out, load);
  const Bytes rows = bytes(vocabulary_ * double(config_.model.hidden), activation_);
  const Bytes backward = brought_back(load) + load.gradients;
  const Bytes logits = count_logits_beside_casts(count_logits(), count_recomputed_casts(out, load));
  const Bytes head = software.empty_gradients && trains_head_weight(config_) ? rows : Bytes{};
  const Bytes later = count_absent_at_loss(out, load);
  const Bytes loss = load.loss ? logits + head - later : Bytes{};
  const Bytes gone = load.embedding_chunk;
  const bool embeds = load.embeds && software.dense_embedding && trains_embedding(config_);
  if (put_update(out, load, std::max(backward, loss), unreduced)) return;
  if (embeds && rows - gone > std::max(backward, loss)) {
    out.instant = Instant::embedding;
    out[Entry::embedding_gradient] = rows;
    out[Entry::activations] = std::max(Bytes{}, out[Entry::activations] - gone);
  } else if (loss > backward) {
    out.instant = Instant::loss;
    out[Entry::logits] = logits;
    out[Entry::head_gradient] = head;
    if (later > Bytes{}) {
      out[Entry::gathered_units] = out[Entry::gathered_units] + out[Entry::reduce_scatter] - later;
      out[Entry::reduce_scatter] = {};
    }
  } else {
    out.instant = Instant::backward;
    out[Entry::recomputed_layer] = brought_back(load);
    out[Entry::layer_gradients] = load.gradients;
  }
}

/// M37: FSDP2 with the loss in chunks, at its two fullest instants. At the loss, the head is
/// gathered; its fp32 gradient is complete, beside a copy that is reduced, or the logits of a chunk
/// exist. In the backward of the last layer, the fp32 gradients of the layer exist, once beside the
/// gradients inside it or twice while they are reduced.
void MemoryEstimator::put_chunked_loss(MemoryEstimate& out, const RankLoad& load) const {
  const plan::Plan& plan = config_.plan;
  const double chunks = double(count_loss_chunks(config_.software.loss));
  const double grad = double(config_.job.grad_bytes()), weight = double(activation_);
  const Bytes hidden = bytes(tokens_ * double(config_.model.hidden), weight);
  const double tokens = config_.job.loss_fraction() * tokens_;
  const Bytes logits{tokens * vocabulary_ / chunks};  // one byte each
  const double head = load.largest_edge > 0 ? vocabulary_ * double(config_.model.hidden) : 0;

  constexpr double kWithTp = 4;  // an fp32 tensor more for the logits of other tp ranks
  const double entropy =
      chunks * bytes_per_logit(config_.software.loss, config_.job) + (plan.tp > 1 ? kWithTp : 0);
  const Bytes reduced = bytes(head, 2 * grad + grad / double(plan.shards())) + weight * logits;
  const Bytes computed = bytes(head, grad) + entropy * logits;
  const bool reduces = reduced + hidden / chunks > computed;
  // The fp32 gradient of the hidden states; chunks of several sequences are copied.
  const Bytes states = (4 / weight + (plan.micro_batch > 1 ? 1 : 0)) * hidden;
  const Bytes loss = bytes(head, weight) + std::max(reduced + hidden / chunks, computed) + states;

  const double layer = double(load.largest_layer);
  const Bytes gathered = plan.tp > 1 ? out[Entry::sequence_gather] : Bytes{};
  const Bytes inside = load.gradients + gathered + bytes(layer, weight + grad);
  const Bytes backward = brought_back(load) + std::max(inside, bytes(layer, 2 * grad));
  if (load.loss && loss > backward) {
    out.instant = Instant::loss;
    out[Entry::gathered_units] = bytes(head, weight);
    out[Entry::reduce_scatter] =
        bytes(head, reduces ? 2 * grad + grad / double(plan.shards()) : grad);
    out[Entry::sequence_gather] = reduces ? hidden / chunks : Bytes{};
    out[Entry::logits] = (reduces ? weight : entropy) * logits + states;
    return;
  }
  out.instant = Instant::backward;
  out[Entry::recomputed_layer] = brought_back(load);
  const bool computes = inside >= bytes(layer, 2 * grad);
  out[Entry::gathered_units] = computes ? bytes(layer, weight) : Bytes{};
  out[Entry::reduce_scatter] = bytes(layer, computes ? grad : 2 * grad);
  out[Entry::layer_gradients] = computes ? load.gradients : Bytes{};
  out[Entry::sequence_gather] = computes ? gathered : Bytes{};
}

/// M32: a framework that frees gradients after the update has none during the forward of a step's
/// only microbatch, and no activations when they are complete. Fills in that instant, in the
/// backward of the last layer or in the update, and returns true if it is the fullest; otherwise
/// removes what exists only then. `other` is what the fullest other instant adds to the
/// activations. In the update, `unreduced` gradients are gone.
bool MemoryEstimator::put_update(MemoryEstimate& out, const RankLoad& load, Bytes other,
                                 Bytes unreduced) const {
  const plan::Software& software = config_.software;
  if (!software.frees_gradients) return false;
  const bool once = config_.microbatches() == 1 && config_.plan.pp == 1;
  const Bytes gradients = once ? out[Entry::gradients] : Bytes{};
  const Bytes gathered = out[Entry::gathered_units] + out[Entry::reduce_scatter];
  const Bytes backward = brought_back(load) + load.gradients + gathered;
  const Bytes temporaries = out[Entry::optimizer_temporaries];
  const Bytes forward = out[Entry::activations] + other + gathered;
  const Bytes last = gradients + std::max(once ? backward : Bytes{}, temporaries) - unreduced;
  if (last <= forward) {
    out[Entry::optimizer_temporaries] = {};
    if (once) out[Entry::gradients] = {};
    return false;
  }
  out.instant = Instant::update;
  out[Entry::gradients] = out[Entry::gradients] - unreduced;
  out[Entry::activations] = {};
  if (!once || temporaries >= backward) {
    out[Entry::gathered_units] = out[Entry::reduce_scatter] = {};
    return true;
  }
  out.instant = Instant::backward;
  out[Entry::optimizer_temporaries] = {};
  out[Entry::recomputed_layer] = brought_back(load);
  out[Entry::layer_gradients] = load.gradients;
  return true;
}

/// M41: returns the tensors of the step that do not exist at the instant of the peak: those of a
/// layer's backward, the loss and the update. PyTorch's allocator keeps their blocks, because the
/// tensors of one instant do not fit what those of another have left, in which optimizer states and
/// gradients are. `always` has what does not depend on the instant.
Bytes MemoryEstimator::count_other_instants(const MemoryEstimate& always,
                                            const MemoryEstimate& at_peak,
                                            const RankLoad& load) const {
  if (!config_.software.frees_gradients) return {};
  const Bytes logits = load.loss ? count_logits() : Bytes{};
  const Bytes all = always.allocated() + brought_back(load) + load.gradients + logits;
  return std::max(Bytes{}, all - at_peak.allocated());
}

/// Fills in the memory outside tensors (M22 to M24): `elsewhere` are tensors of other instants,
/// whose blocks are reserved. Requires: the entries of all tensors are set.
void MemoryEstimator::put_beyond(MemoryEstimate& out, Bytes elsewhere) const {
  constexpr double kFp32Bytes = 4;
  const plan::Job& job = config_.job;
  const Bytes allocated = out.allocated();
  constexpr double kPartial = 1.0 / 6;  // M28: 6 of 38 GiB on Hy3
  const plan::Launch launch = config_.software.launch;
  const double pool = launch == plan::Launch::graphs           ? 1
                      : launch == plan::Launch::partial_graphs ? kPartial
                                                               : 0;
  out[Entry::graph_pool] =
      pool * calibration_[cluster::Constant::graph_pool] * out[Entry::activations];
  Bytes reserve = calibration_[cluster::Constant::reserve] * (allocated - out.states()) + elsewhere;
  if (config_.software.fp32_gradients && job.grad_bytes() <= job.param_bytes() &&
      job.optimizer_bytes() > 0)
    reserve += kFp32Bytes / job.optimizer_bytes() * out[Entry::optimizer];
  const Bytes device = config_.cluster.device.memory;
  if (device > Bytes{})
    reserve = std::min(reserve, std::max(Bytes{}, kAllocatorLimit * device - allocated));
  out[Entry::reserve] = reserve;
  out[Entry::context] = config_.software.context;
  out[Entry::dispatch_buffers] = count_dispatch_buffers(config_, tokens_);
  out[Entry::communicators] =
      bytes(count_communicators(config_.plan), kGB * calibration_[cluster::Constant::communicator]);
}

/// Estimates all entries; M4 and M18 to M21 are filled in here.
MemoryEstimate MemoryEstimator::estimate(const RankLoad& load) const {
  const plan::Software& software = config_.software;
  MemoryEstimate out{.pp_rank = load.pp_rank};
  out[Entry::activations] = load.held;
  if (wide_.casts) out[Entry::activations] += load.casts;
  if (wide_.inputs) out[Entry::activations] += load.wide_inputs;
  put_states(out, load);
  if (sequence_parallel(config_.plan))
    out[Entry::sequence_gather] = 2 * bytes(tokens_ * double(config_.model.hidden), activation_);
  if (software.empty_gradients && !config_.job.frozen())
    out[Entry::empty_gradients] = bytes(load.attention + load.dense + load.sparse, activation_);
  out[Entry::buckets] = software.buckets;
  if (software.eager_ops)
    out[Entry::rotary_tables] = double(software.hf_modeling ? 1 : load.layers) * rotary_table_;
  if (software.bare)
    put_transit(out, load);
  else
    out[Entry::workspace] =
        Bytes{kGB * calibration_[cluster::Constant::workspace]} + calibration_.held;
  const Bytes shards = out[Entry::gradients];
  out[Entry::gradients] = std::max(shards, count_whole_gradients(config_, load));
  const MemoryEstimate always = out;
  put_instant(out, load, always[Entry::gradients] - shards);
  if (!software.bare) put_beyond(out, count_other_instants(always, out, load));
  return out;
}

}  // namespace

std::span<const EntryRow> entries() { return kEntryRows; }
const EntryRow& row(Entry entry) {
  const EntryRow& found = kEntryRows[std::size_t(entry)];
  RW_CHECK(found.entry == entry);
  return found;
}
std::string_view name(Entry entry) { return row(entry).name; }
std::string_view name(Instant instant) { return kInstants[std::size_t(instant)]; }

Bytes MemoryEstimate::states() const { return sum(*this, Entry::parameters, Entry::reference); }
Bytes MemoryEstimate::allocated() const { return sum(*this, Entry::parameters, Entry::workspace); }
Bytes MemoryEstimate::reserved() const { return sum(*this, Entry::parameters, Entry::reserve); }
Bytes MemoryEstimate::total() const { return sum(*this, Entry::parameters, Entry::communicators); }

MemoryEstimate estimate_memory(const plan::TrainingConfig& config, i64 pp_rank,
                               const cluster::Calibration& calibration) {
  return MemoryEstimator(config, calibration).estimate(RankLoads(config).of(pp_rank));
}

std::vector<MemoryEstimate> estimate_memory_per_pp_rank(const plan::TrainingConfig& config,
                                                        const cluster::Calibration& calibration) {
  const MemoryEstimator estimator(config, calibration);
  RankLoads loads(config);
  std::vector<MemoryEstimate> all;
  all.reserve(std::size_t(config.plan.pp));
  for (i64 r = 0; r < config.plan.pp; ++r) all.push_back(estimator.estimate(loads.of(r)));
  return all;
}

MemoryEstimate fullest(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                       std::span<const RankLoad> loads) {
  const MemoryEstimator estimator(config, calibration);
  MemoryEstimate max;
  Bytes largest{-1};
  for (const RankLoad& load : loads) {
    const MemoryEstimate here = estimator.estimate(load);
    const Bytes total = here.total();
    if (total <= largest) continue;
    max = here;
    largest = total;
  }
  return max;
}

MemoryEstimate fullest(const plan::TrainingConfig& config,
                       const cluster::Calibration& calibration) {
  return fullest(config, calibration, RankLoads(config).peak_candidates());
}

}  // namespace rankwright::cost
