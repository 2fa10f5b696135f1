#include "rankwright/cost/memory/activations.h"

#include <algorithm>

#include "rankwright/plan/adapters.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/messages.h"

namespace rankwright::cost {
namespace {

constexpr double kFp32 = 4;
/// Tensors saved inside an expert. Gated: both halves before the activation, and its output, which
/// the same kernel scales by the router's weight. Not gated: before, after, and scaled.
constexpr double kInsideExpert = 3;
constexpr i64 kGatedMatrices = 3;  // of a gated feed-forward
constexpr double kMask = 1;        // bytes per element of a dropout mask

/// Elements per token on one tp rank. Doubles, because with the tokens of a hostile plan the
/// products exceed 64 bits.
struct Widths {
  double query = 0, key = 0, value = 0;
  double latent = 0;   // compressed queries and keys, replicated on every tp rank
  double up = 0;       // latent attention: output of the matmul for keys and values
  double context = 0;  // output of the heads
  double more = 0;     // gates, inputs of a convolution, the indexer, inputs of norms on the output
};

Widths find_widths(const model::Attention& a, i64 tp) {
  const double heads = double(a.heads) / double(tp);
  if (a.recurrent()) {
    const double key = double(ceil_div(a.kv_heads, tp)) * double(a.state);
    const double value = heads * double(a.head_dim);
    // The gate and the input of the norm on the output are as wide as the values. Mamba-2's kernel
    // computes its convolution again; the delta rule reads saved outputs of it.
    const bool delta = a.kind == model::Attention::Kind::delta;
    const double convolved = delta && a.conv > 0 ? 2 * key + value : 0;
    return {
        .query = key, .key = key, .value = value, .context = value, .more = 2 * value + convolved};
  }
  if (a.kind == model::Attention::Kind::latent) {
    const double qk = heads * double(a.nope_dim + a.rope_dim);
    const double v = heads * double(a.value_dim);
    return {.query = qk,
            .key = qk,
            .value = v,
            .latent = double(a.q_rank + a.kv_rank + a.rope_dim),
            .up = heads * double(a.nope_dim + a.value_dim),
            .context = v,
            .more = double(a.index_heads) * double(a.index_dim + 1) + double(a.index_dim)};
  }
  // With fewer key-value heads than tp ranks, heads are replicated.
  const double key = double(ceil_div(a.kv_heads, tp)) * double(a.head_dim);
  const double query = heads * double(a.head_dim);
  // With an output gate: the gate, and the attention output that it scales.
  return {
      .query = query, .key = key, .value = key, .context = query, .more = a.gated ? 2 * query : 0};
}

/// Returns the bytes per element of a saved input of a matmul (M27). Transformer Engine saves it as
/// it was cast; torchao casts again from 16 bits.
double saved_input_bytes(const plan::TrainingConfig& s) {
  const double plain = double(s.job.activation_bytes());
  if (s.software.fsdp || s.software.bare || s.cluster.device.fp8.value <= 0) return plain;
  switch (s.job.matmul) {
    case plan::Matmul::same:
      return plain;
    case plan::Matmul::fp8:
      return 1;
    case plan::Matmul::mxfp8:
      return 1 + plan::kBlockScale;
    case plan::Matmul::fp4:
      return 0.5 + 2 * plan::kBlockScale;
  }
  return plain;
}

/// Factors common to all terms: tokens of a microbatch on a cp rank, bytes per activation element,
/// hidden size, and the fraction of the tokens that a tp rank has between blocks.
struct Scale {
  double tokens, bytes, input_bytes, hidden, part;

  explicit Scale(const plan::TrainingConfig& s)
      : tokens(double(s.plan.micro_batch) * double(s.job.sequence) / double(s.plan.cp)),
        bytes(double(s.job.activation_bytes())),
        input_bytes(saved_input_bytes(s)),
        hidden(double(s.model.hidden)),
        part(sequence_parallel(s.plan) ? 1 / double(s.plan.tp) : 1) {}

  /// Returns the bytes of `width` activation elements per token.
  Bytes of(double width) const { return {tokens * bytes * width}; }
  /// Returns the bytes of `width` elements per token that are inputs of matmuls of the layer, which
  /// are saved as they were cast for them (M27).
  Bytes input(double width) const { return {tokens * input_bytes * width}; }
  Bytes plain(double bytes_per_token) const { return {tokens * bytes_per_token}; }
};

double matrix_count(const model::FeedForward& ffn) { return double(ffn.matrices); }

/// Returns the bytes of `width` elements per token that an activation function reads, and reads
/// again in the backward pass. The input of SwiGLU may be kept in fp8 (M27).
Bytes activation_input(const plan::TrainingConfig& s, const model::FeedForward& ffn, double width,
                       const Scale& scale) {
  const bool fp8 = s.job.fp8_swiglu_input && ffn.matrices == kGatedMatrices;
  return fp8 ? scale.plain(width) : scale.of(width);
}

/// Returns the inner width of the dense feed-forward or of the shared expert on one tp rank.
double dense_width(const model::FeedForward& ffn, i64 tp) {
  return double(ffn.sparse() ? ffn.shared_width : ffn.width) / double(tp);
}

/// Returns how many of a layer's norms are before a block. Their outputs, which the block's matmuls
/// read, are saved as well as their inputs; a norm after a block saves its input.
double norms_before(i64 norms) { return double(std::min<i64>(norms, 2)); }

Bytes attention_core(const plan::TrainingConfig& s, const model::Attention& a, const Scale& scale) {
  const double heads = double(a.heads) / double(s.plan.tp);
  if (a.recurrent()) {
    // The delta rule saves a triangular matrix per chunk: kChunk elements per token and head.
    constexpr double kChunk = 64;
    const bool delta = a.kind == model::Attention::Kind::delta;
    return scale.of(delta ? kChunk * heads : 0) + scale.plain(kFp32 * heads);
  }
  if (s.software.attention != plan::AttentionKernel::unfused) return scale.plain(kFp32 * heads);
  // The softmax output; with dropout also the mask and the result.
  const double score = s.software.dropout ? 2 * scale.bytes + kMask : scale.bytes;
  return scale.plain(score * heads * double(s.job.sequence));
}

/// Returns what selective recomputation by operation keeps: the layer's input, the output of every
/// second matmul (queries, values, one inside the feed-forward, the last one) and the attention
/// output. Nothing is kept inside routed experts.
Bytes kept_by_op(const plan::TrainingConfig& s, const model::Layer& layer, const Scale& scale) {
  const Widths w = find_widths(layer.attention, s.plan.tp);
  const bool latent = layer.attention.kind == model::Attention::Kind::latent;
  const double projected = latent ? w.latent : w.query + w.value;
  const double inside = dense_width(layer.ffn, s.plan.tp);
  const double hidden = scale.part * scale.hidden;
  const Bytes statistics = scale.plain(kFp32 * double(layer.attention.heads) / double(s.plan.tp));
  if (!s.software.eager_ops)
    return scale.of(hidden + projected + w.context + inside + hidden) + statistics;
  // M29: one matmul projects queries, keys and values, and the compiled attention keeps its inputs
  // as well. The last matmul's output is kept before and after its reduce-scatter; that of routed
  // experts, which is grouped, is not.
  const double attended = w.query + w.key + w.value;
  const double last =
      layer.ffn.sparse() ? 0 : scale.hidden + (sequence_parallel(s.plan) ? 2 * hidden : 0);
  return scale.of(hidden + (latent ? projected : attended) + attended + w.context + inside + last) +
         statistics;
}

/// Returns the copies of tokens per token of a tp rank that the fullest rank of the experts keeps.
/// CUDA graphs of the iteration keep them in a stash with room for 1.2 times the mean (M28).
double find_visits(const plan::TrainingConfig& s, const model::FeedForward& ffn,
                   const Scale& scale) {
  constexpr double kStash = 1.2;  // moe_paged_stash_buffer_size_factor_cuda of the recipes
  const double copies = double(ffn.active) * scale.part;
  const double imbalance = find_imbalance(s.job, select_calibration(s));
  const bool stashes =
      s.software.launch == plan::Launch::graphs && !s.software.bare && s.job.expert_capacity <= 0;
  return (stashes ? std::max(kStash, imbalance) : imbalance) * copies;
}

/// Returns what experts keep if operations are not fused (M29): the output of the activation
/// function, and their outputs in fp32, before they are weighed.
Bytes eager_experts(const plan::TrainingConfig& s, const model::FeedForward& ffn, double visits,
                    const Scale& scale) {
  if (!s.software.eager_ops) return {};
  return scale.of(visits * double(ffn.expert_width)) + scale.plain(kFp32 * visits * scale.hidden);
}

/// Returns what norms keep of inputs with `width` elements per token. The RMSNorm of transformers
/// casts them to fp32, and keeps the normalized tensor for the gradient of its weight (M33);
/// LayerNorm is one operation of PyTorch.
Bytes norm_inputs(const plan::TrainingConfig& s, const model::Layer& layer, double width,
                  const Scale& scale) {
  if (!s.software.hf_modeling || !s.software.eager_ops || s.model.norm_bias) return scale.of(width);
  return scale.plain(kFp32 * width) + (trains_weights(s, layer) ? scale.of(width) : Bytes{});
}

/// Returns whether frozen matmuls keep their inputs because their weights are quantized (M40).
bool keeps_frozen_inputs(const plan::TrainingConfig& s) {
  return s.software.keeps_quantized_inputs && s.job.quantized();
}

/// Returns the linear layers of a layer whose inputs backward reads: those with adapters under
/// LoRA, none in a frozen layer, otherwise all.
plan::LoraModules find_trained_modules(const plan::TrainingConfig& s, const model::Layer& layer) {
  if (layer.training != model::Training::full) return plan::kNoLoraModules;
  return s.job.frozen() && !keeps_frozen_inputs(s) ? s.job.lora_modules : plan::LoraModules{};
}

/// Returns the saved activations of a layer that selective recomputation of its modules drops.
Bytes dropped_by_modules(const plan::TrainingConfig& s, const model::Layer& layer,
                         const SavedLayer& all, const Scale& scale) {
  const plan::RecomputeModules& modules = s.plan.modules;
  const model::FeedForward& ffn = layer.ffn;
  const Widths w = find_widths(layer.attention, s.plan.tp);
  Bytes sum;
  if (modules.core_attn) sum += all.core;
  const double normed = norms_before(layer.norms) * scale.part * scale.hidden;
  // Megatron-LM drops what the norms make. torch.utils.checkpoint keeps that and the norms' inputs,
  // and drops what is between them (M33).
  if (modules.layernorm)
    sum += s.software.hf_modeling
               ? std::max(Bytes{}, norm_inputs(s, layer, normed, scale) - scale.of(normed))
               : scale.input(normed);
  if (modules.mla_up_proj && layer.attention.kind == model::Attention::Kind::latent)
    sum += scale.of(w.query + w.key + w.value);
  if (modules.mlp && !ffn.sparse()) sum += all.ffn;
  if (!ffn.sparse()) return sum;
  if (modules.moe) return sum + all.routed + all.ffn;
  if (modules.moe_act) sum += scale.input(find_visits(s, ffn, scale) * double(ffn.expert_width));
  if (modules.shared_experts) sum += all.ffn;
  return sum;
}

/// Returns whether an adapter reads the input that a norm makes for its block.
bool reads_block_input(const plan::TrainingConfig& s, const plan::AdaptedLinear& linear) {
  return linear.in == s.model.hidden && !linear.expert && !linear.of_attention_output;
}

/// Returns how many of the inputs that norms make are kept for the matmuls after them; under LoRA,
/// those that an adapter reads.
double kept_block_inputs(const plan::TrainingConfig& s, const model::Layer& layer) {
  if (trains_weights(s, layer) || keeps_frozen_inputs(s)) return norms_before(layer.norms);
  double kept = 0;
  for (const plan::AdaptedLinear& linear : list_adapted(s, layer))
    if (reads_block_input(s, linear) && linear.saves_input) ++kept;
  return kept;
}

/// Returns the casts of its inputs that a layer of transformers keeps if its weights or adapters
/// are in fp32 (M33). Queries, keys and values are separate matmuls, as are the two of a gated
/// feed-forward, and each casts its input. Hidden states in fp32 also widen the normalized tensors;
/// frozen layers have them in 16 bits, and their adapters cast.
Bytes count_casts(const plan::TrainingConfig& s, const model::Layer& layer, const Widths& w,
                  const Scale& scale) {
  if (!s.software.hf_modeling) return {};
  if (!s.job.frozen()) {
    if (scale.bytes >= kFp32 || !trains_weights(s, layer)) return {};
    constexpr double kQkv = 3;
    const double more = kFp32 / scale.bytes - 1;
    const double casts = (kQkv - 1) + (matrix_count(layer.ffn) - 2);
    return scale.of((more * double(layer.norms) + casts) * scale.hidden);
  }
  double adapted = 0;
  for (const plan::AdaptedLinear& linear : list_adapted(s, layer))
    if (reads_block_input(s, linear)) ++adapted;
  const double context = find_trained_modules(s, layer).o_proj ? w.context : 0;
  const double casts = std::max(0.0, adapted - kept_block_inputs(s, layer));
  return scale.input(casts * scale.hidden + context);
}

/// Returns the times that the output of attention is kept: once by its kernel or for the matmul
/// after it. The runtime's attention does not keep it (M30).
double kept_contexts(const plan::TrainingConfig& s, const plan::LoraModules& trained) {
  return s.software.bare && !trained.o_proj ? 0 : 1;
}

/// Returns what the runtime keeps between the two matrices of each adapter, for the gradient of the
/// second: lora_rank elements for every token of the sequence (M30). Other estimates neglect it.
Bytes between_adapters(const plan::TrainingConfig& s, const model::Layer& layer,
                       const Scale& scale) {
  if (!s.job.frozen() || !s.software.bare) return {};
  const double adapters = double(list_adapted(s, layer).size());
  return scale.of(adapters * double(s.job.lora_rank));
}

/// Returns how many gradients of a feed-forward's width exist at once (M12). torchtitan has freed
/// that of the product when it has those of both factors.
double count_gradients(const plan::TrainingConfig& s, const model::FeedForward& ffn) {
  const bool freed = s.software.dtensor && s.software.eager_ops;
  return matrix_count(ffn) - (freed && ffn.matrices == 3 ? 1 : 0);
}

}  // namespace

double find_imbalance(const plan::Job& job, const cluster::Calibration& calibration) {
  if (job.expert_capacity > 0) return job.expert_capacity;
  return job.expert_imbalance > 0 ? job.expert_imbalance
                                  : calibration[cluster::Constant::imbalance_experts];
}

SavedLayer saved(const plan::TrainingConfig& s, const model::Layer& layer) {
  const Scale scale(s);
  const model::Attention& a = layer.attention;
  const model::FeedForward& ffn = layer.ffn;
  const Widths w = find_widths(a, s.plan.tp);
  const double hidden = scale.part * scale.hidden;
  const double inside = dense_width(ffn, s.plan.tp);
  const plan::LoraModules trained = find_trained_modules(s, layer);
  const double down = trained.down_proj ? 1 : 0;  // the input of the last matmul is kept
  SavedLayer out{
      .norms = norm_inputs(s, layer, double(layer.norms) * hidden, scale) +
               scale.input(kept_block_inputs(s, layer) * hidden),
      .projected = scale.of(w.query + w.key + w.value + w.latent + w.more) + scale.input(w.latent),
      .context = scale.input(kept_contexts(s, trained) * w.context),
      .core = attention_core(s, a, scale),
      .ffn = activation_input(s, ffn, (matrix_count(ffn) - 1) * inside, scale) +
             scale.input(down * inside),
      .adapters = between_adapters(s, layer, scale)};
  if (s.software.eager_ops) {                    // M29
    const double whole = scale.hidden - hidden;  // what tp gathers of a block's input
    out.norms += scale.input(kept_block_inputs(s, layer) * whole) +
                 scale.plain(kFp32 * double(layer.norms) * scale.part);
    if (ffn.matrices == kGatedMatrices) out.ffn += scale.of(inside);
  }
  if (a.qk_norm) out.projected += norm_inputs(s, layer, w.query + w.key, scale);
  if (layer.scales && trains_weights(s, layer))
    out.scaled = scale.of(double(layer.blocks()) * hidden);
  if (s.software.dropout) out.masks = scale.plain(2 * kMask * hidden);
  if (ffn.sparse()) {
    // Tokens that reach the experts of a rank. The etp ranks gather the tokens sent to each of
    // them.
    const double visits = find_visits(s, ffn, scale);
    const double sent = trained.gate_proj || trained.up_proj ? 1 : 0;
    out.routed =
        eager_experts(s, ffn, visits, scale) +
        scale.plain(2 * kFp32 * double(ffn.experts) * scale.part) +
        scale.input(sent * visits * double(s.plan.etp) * scale.hidden) +
        activation_input(s, ffn, visits * (kInsideExpert - 1) * double(ffn.expert_width), scale) +
        scale.input(down * visits * double(ffn.expert_width));
  }
  return out;
}

LayerActivations activations(const plan::TrainingConfig& s, const model::Layer& layer) {
  if (!runs_backward(s, layer)) return {};
  const Scale scale(s);
  const SavedLayer all = saved(s, layer);
  const model::FeedForward& ffn = layer.ffn;
  const double inside = ffn.sparse() ? double(ffn.active) * double(ffn.expert_width) * scale.part
                                     : dense_width(ffn, s.plan.tp);
  LayerActivations out{.kept = all.total(),
                       .input = scale.of(scale.part * scale.hidden),
                       .whole = all.total(),
                       .core = {},
                       .gradients = scale.of(count_gradients(s, ffn) * inside + scale.hidden)};
  out.casts = count_casts(s, layer, find_widths(layer.attention, s.plan.tp), scale);
  if (s.software.hf_modeling && scale.bytes < kFp32)
    out.wide_input = (kFp32 / scale.bytes - 1) * out.input;
  if (s.plan.recompute != plan::Recompute::selective) return out;
  const bool by_op = s.software.recomputes_ops;
  const Bytes dropped = dropped_by_modules(s, layer, all, scale);
  out.kept = by_op ? std::min(all.total(), kept_by_op(s, layer, scale)) : all.total() - dropped;
  out.core = by_op ? all.total() : dropped;
  return out;
}

LayerActivations compute_mtp_activations(const plan::TrainingConfig& s) {
  const Scale scale(s);
  LayerActivations out = activations(s, s.model.runs.back().layer);
  const Bytes halves = scale.of(4 * scale.part * scale.hidden);
  out.kept += halves;
  out.whole += halves;
  out.input += out.input;  // the hidden states and the embedded next tokens
  return out;
}

LayerMatrices matrices(const plan::TrainingConfig& s, const model::Layer& layer) {
  const double hidden = double(s.model.hidden);
  const model::Attention& a = layer.attention;
  const model::FeedForward& ffn = layer.ffn;
  const Widths w = find_widths(a, s.plan.tp);
  LayerMatrices out;
  if (a.recurrent()) {
    const double tp = double(s.plan.tp);
    out.attention = hidden * double(a.projected_width() + a.value_width()) / tp;
  } else if (a.kind == model::Attention::Kind::latent) {
    const double q_in = a.q_rank > 0 ? double(a.q_rank) : hidden;
    out.attention =
        hidden * w.latent + q_in * w.query + double(a.kv_rank) * w.up + w.context * hidden;
  } else {
    out.attention = hidden * (w.query + w.key + w.value + w.context + (a.gated ? w.query : 0));
  }
  const double expert = ffn.sparse() ? double(ffn.expert_width) / double(s.plan.etp) : 0;
  out.ffn = matrix_count(ffn) * hidden * (dense_width(ffn, s.plan.tp) + expert);
  return out;
}

}  // namespace rankwright::cost
