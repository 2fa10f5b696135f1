#include "rankwright/plan/encoder.h"

#include "rankwright/base/format.h"
#include "rankwright/model/flops.h"
#include "rankwright/plan/frozen.h"

namespace rankwright::plan {

i64 find_image_tokens(const TrainingConfig& config) {
  return config.job.image_tokens > 0 ? config.job.image_tokens : config.model.encoder.image_tokens;
}

std::string show_encoder_inputs(const TrainingConfig& config) {
  return config.model.encoder.audio ? plural(config.job.images, "clip", "clips")
                                    : plural(config.job.images, "image", "images");
}

std::string_view find_encoder_key(const model::Encoder& encoder) {
  return encoder.audio ? "job.clips" : "job.images";
}

bool runs_encoder(const TrainingConfig& config) {
  const i64 tokens = find_image_tokens(config);
  return config.job.images > 0 && config.model.encoder.hidden > 0 && tokens > 0 &&
         product({config.plan.micro_batch, config.job.images, tokens, config.model.encoder.merge});
}

TrainingConfig make_encoder_config(const TrainingConfig& config) {
  const model::Encoder& shape = config.model.encoder;
  TrainingConfig encoder = config;
  // Encoders with plain feed-forwards have LayerNorm, gated ones RMSNorm.
  encoder.model = {.hidden = shape.hidden,
                   .norm_bias = shape.matrices == 2,
                   .runs = list_encoder_layers(config.model)};
  for (model::LayerRun& run : encoder.model.runs)
    run.layer.training =
        trains_encoder(config) ? model::Training::full : model::Training::forward_only;
  encoder.job.sequence = find_image_tokens(config) * shape.merge;
  encoder.job.doc_length = 0;
  encoder.job.lora_rank = 0;
  encoder.plan.micro_batch = config.plan.micro_batch * config.job.images;
  encoder.plan.cp = encoder.plan.ep = encoder.plan.etp = encoder.plan.pp = 1;
  encoder.plan.sequence_parallel = false;
  encoder.plan.overlap.ep = false;
  return encoder;
}

Flops count_encoder_flops(const TrainingConfig& config) {
  if (!runs_encoder(config)) return {};
  return double(config.job.images) * encoder_forward_flops(config.model, find_image_tokens(config));
}

}  // namespace rankwright::plan
