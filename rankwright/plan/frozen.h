// Which weights of a config are trained, and which layers backward runs through. Under LoRA no
// weight of the model is trained (adapters.h); otherwise all are but the model's frozen parts.
// Formula S6.
#pragma once

#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Returns whether some weights of the model have no gradients.
bool has_frozen_weights(const TrainingConfig& config);

/// Return whether the weights of a layer, of the encoder, of the embedding, and of the last norm
/// and an untied head have gradients. The head reads the embedding's weight if it is tied.
bool trains_weights(const TrainingConfig& config, const model::Layer& layer);
bool trains_encoder(const TrainingConfig& config);
bool trains_embedding(const TrainingConfig& config);
bool trains_head(const TrainingConfig& config);
bool trains_head_weight(const TrainingConfig& config);

/// Returns whether backward runs through a layer. In a pipeline it runs through all: stages send
/// the gradients of their inputs, whether or not an earlier stage trains anything.
bool runs_backward(const TrainingConfig& config, const model::Layer& layer);

/// Returns whether backward ends before the embedding, so that ZeRO-3 gathers its weight for
/// forward passes only, unless a tied head reads it. Under LoRA alone, it does not.
bool skips_embedding(const TrainingConfig& config);

}  // namespace rankwright::plan
