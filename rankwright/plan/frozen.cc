#include "rankwright/plan/frozen.h"

namespace rankwright::plan {

bool has_frozen_weights(const TrainingConfig& config) {
  return config.job.frozen() || config.model.frozen.any();
}

bool trains_weights(const TrainingConfig& config, const model::Layer& layer) {
  return !config.job.frozen() && layer.training == model::Training::full;
}

bool trains_encoder(const TrainingConfig& config) {
  return !config.job.frozen() && !config.model.frozen.encoder;
}

bool trains_embedding(const TrainingConfig& config) {
  return !config.job.frozen() && !config.model.frozen.embedding;
}

bool trains_head(const TrainingConfig& config) {
  return !config.job.frozen() && !config.model.frozen.head;
}

bool trains_head_weight(const TrainingConfig& config) {
  return config.model.tied ? trains_embedding(config) : trains_head(config);
}

bool runs_backward(const TrainingConfig& config, const model::Layer& layer) {
  return layer.training != model::Training::forward_only || config.plan.pp > 1;
}

bool skips_embedding(const TrainingConfig& config) { return config.model.frozen.embedding; }

}  // namespace rankwright::plan
