#include "rankwright/plan/messages.h"

#include <algorithm>

namespace rankwright::plan {
namespace {

/// Returns the bytes of `width` elements per token of a microbatch, in the format of activations.
Bytes activations(const TrainingConfig& config, i64 width) {
  const i64 tokens = config.plan.micro_batch * config.job.sequence / config.plan.cp;
  return double(tokens) * bytes(width, config.job.activation_bytes());
}

/// Returns the bytes of a rank's tokens, one copy per expert that they are routed to.
Bytes token_copies(const TrainingConfig& config, const model::FeedForward& ffn) {
  return ffn.active * compute_messages(config).kept;
}

}  // namespace

bool sequence_parallel(const Plan& plan) { return plan.sequence_parallel && plan.tp > 1; }

Messages compute_messages(const TrainingConfig& config) {
  const Bytes hidden = activations(config, config.model.hidden);
  return {.hidden = hidden,
          .kept = hidden / (sequence_parallel(config.plan) ? config.plan.tp : 1),
          .scores = bytes(config.plan.micro_batch * config.job.sequence / config.plan.cp,
                          config.job.scalar_bytes())};
}

AttentionMessages compute_messages(const TrainingConfig& config, const model::Attention& a) {
  const bool latent = a.kind == model::Attention::Kind::latent;
  const i64 tp = config.plan.tp;
  const i64 query = a.query_width() / tp;
  const i64 output = a.value_width() / tp;
  const i64 width = a.recurrent() ? a.state : a.head_dim;
  const i64 key = latent ? query : ceil_div(a.kv_heads, tp) * width;
  const i64 value = latent || a.recurrent() ? output : key;
  return {activations(config, query), activations(config, key), activations(config, value),
          activations(config, output)};
}

BlockInputs compute_block_inputs(const TrainingConfig& config, const model::Attention& a) {
  if (a.kind != model::Attention::Kind::latent) return compute_block_inputs(config);
  return {{activations(config, a.q_rank > 0 ? a.q_rank : config.model.hidden),
           activations(config, a.kv_rank), activations(config, a.rope_dim)}};
}

BlockInputs compute_block_inputs(const TrainingConfig& config) {
  return {{activations(config, config.model.hidden)}};
}

bool has_dense_block(const model::FeedForward& ffn) {
  return ffn.sparse() ? ffn.shared_width > 0 : ffn.present();
}

bool recomputes_attention_core(const TrainingConfig& config) {
  return config.plan.recompute == Recompute::selective && !config.software.recomputes_ops;
}

Bytes compute_expert_message(const TrainingConfig& config, const model::FeedForward& ffn) {
  const Bytes plain = token_copies(config, ffn);
  if (!config.software.fp8_dispatch || config.job.matmul == Matmul::same) return plain;
  constexpr double kScaled = 1 + 4.0 / 128;  // one fp32 scale per 128 elements
  const double combined = double(config.job.activation_bytes());
  return (kScaled + combined) / (2 * combined) * plain;
}

Bytes compute_etp_message(const TrainingConfig& config, const model::FeedForward& ffn) {
  if (config.software.dtensor && config.plan.ep == 1) return compute_messages(config).hidden;
  return config.plan.etp * token_copies(config, ffn);
}

Bytes compute_count_message(const TrainingConfig& config, const model::FeedForward& ffn) {
  return config.software.dtensor ? bytes(ffn.experts, 8) : Bytes{};
}

Bytes compute_boundary_message(const TrainingConfig& config, i64 mtp) {
  const Messages sizes = compute_messages(config);
  const bool parts = config.software.scatters_sends;
  return (1 + mtp) * (parts ? sizes.hidden / config.plan.tp : sizes.kept);
}

i64 count_mtp_until(const Stages& stages, i64 stage) {
  i64 modules = 0;
  for (i64 s = 0; s <= std::min(stage, i64(stages.size()) - 1); ++s)
    modules += stages[std::size_t(s)].mtp;
  return modules;
}

}  // namespace rankwright::plan
