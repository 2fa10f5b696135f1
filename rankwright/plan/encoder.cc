#include "rankwright/plan/encoder.h"

#include "rankwright/model/flops.h"
#include "rankwright/plan/frozen.h"

namespace rankwright::plan {

i64 find_image_tokens(const TrainingConfig& config) {
  return config.job.image_tokens > 0 ? config.job.image_tokens : config.model.encoder.image_tokens;
}

bool runs_encoder(const TrainingConfig& config) {
  const i64 tokens = find_image_tokens(config);
  return config.job.images > 0 && config.model.encoder.hidden > 0 && tokens > 0 &&
         product({config.plan.micro_batch, config.job.images, tokens, config.model.encoder.merge});
}

TrainingConfig make_encoder_config(const TrainingConfig& config) {
  const model::Encoder& shape = config.model.encoder;
  TrainingConfig encoder = config;
  model::Layer layer{
      .attention = {.heads = shape.heads,
                    .kv_heads = shape.heads,
                    .head_dim = shape.hidden / shape.heads,
                    .causal = false},
      .ffn = {.width = shape.ffn, .matrices = shape.matrices},
      .training = trains_encoder(config) ? model::Training::full : model::Training::forward_only};
  // Encoders with plain feed-forwards have LayerNorm, gated ones RMSNorm.
  encoder.model = {.hidden = shape.hidden,
                   .norm_bias = shape.matrices == 2,
                   .runs = {{config.model.encoder_layers, layer}}};
  encoder.job.sequence = find_image_tokens(config) * shape.merge;
  encoder.job.doc_length = 0;
  encoder.job.lora_rank = 0;
  encoder.plan.micro_batch = config.plan.micro_batch * config.job.images;
  encoder.plan.cp = encoder.plan.ep = encoder.plan.etp = encoder.plan.pp = 1;
  encoder.plan.sequence_parallel = false;
  encoder.plan.overlap.ep = false;
  return encoder;
}

bool recomputes_encoder(const Plan& plan) {
  return plan.recompute != Recompute::none && plan.recompute_layers == 0;
}

Flops count_encoder_flops(const TrainingConfig& config) {
  if (!runs_encoder(config)) return {};
  return double(config.job.images) * encoder_forward_flops(config.model, find_image_tokens(config));
}

}  // namespace rankwright::plan
