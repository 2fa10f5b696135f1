// A model with a vision encoder in front, for the tests of plan/ and cost/.
#pragma once

#include "rankwright/catalog/catalog.h"
#include "tests/support/sample.h"

namespace rankwright::sample {

/// Returns llama-3.1-8b with the encoder of LLaVA 1.5 (CLIP ViT-L/14, images of 336 x 336) on
/// dgx-h100, with `images` images per sequence.
inline plan::TrainingConfig llava(i64 images, const plan::Plan& plan = {}) {
  plan::TrainingConfig config = config_of(*catalog::find_model("llama-3.1-8b"), plan);
  config.cluster = *catalog::find_cluster("dgx-h100");
  config.model.encoder_parameters = 324'478'976;
  config.model.encoder_layers = 24;
  config.model.encoder = {.hidden = 1024,
                          .ffn = 4096,
                          .heads = 16,
                          .matrices = 2,
                          .merge = 1,
                          .projector = 1024 * 4096 + 4096 * 4096,
                          .image_tokens = 576};
  config.job.images = images;
  return config;
}

}  // namespace rankwright::sample
