// The time of one microbatch by layer kind, in the embedding and in the output head. It does not
// depend on the plan's schedule, chunks, stages and ZeRO, so a search estimates it once for all
// plans that differ only in these. step.h combines the layers into stages.
#pragma once

#include <algorithm>
#include <vector>

#include "rankwright/cost/layer_time.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// The time of one layer in a run of identical consecutive layers.
struct LayerKindCost {
  i64 first = 0, end = 0;  // range of layers in the model
  LayerTime time{};
  plan::Share share{};
  plan::Share trained{};  // what has gradients; under LoRA the adapters

  /// Returns the number of these layers in a stage; not positive if there are none.
  i64 layers_in(const plan::Stage& stage, i64 stage_first) const {
    return std::min(end, stage_first + stage.layers) - std::max(first, stage_first);
  }
};

/// The time of one microbatch in each of `count` equal layers of the encoder.
struct EncoderCost {
  i64 count = 0;
  LayerTime time{};
};

/// The times of one microbatch in all parts of a model.
struct LayerCosts {
  Rates rates;
  std::vector<LayerKindCost> kinds{};
  EmbeddingHeadTime head{}, embedding{};
  EmbeddingHeadTime mtp{};             // an MTP module without its layer: embedding and projection
  EmbeddingHeadTime projection{};      // its projection alone
  std::vector<EncoderCost> encoder{};  // on the images of the microbatch; empty without images
  /// X2: one activation or gradient to the adjacent stage, by the number of MTP modules before it,
  /// whose outputs are sent along. Empty without a pipeline.
  std::vector<Seconds> sends{};

  /// Returns the time of one send, without MTP modules before it.
  Seconds send() const { return sends.empty() ? Seconds{} : sends.front(); }

  /// Switches to the recomputation policy of a plan.
  void recompute(const plan::Plan& plan) {
    for (LayerKindCost& kind : kinds) kind.time.recompute(plan);
    for (EncoderCost& kind : encoder) kind.time.recompute(plan);
  }
};

/// Estimates the times of one microbatch. `links` are the config's, or Links::none: then
/// communication takes no time and the result is a lower bound over all axis orders.
/// Requires: the config has no constraint violation.
LayerCosts estimate_layer_costs(const plan::TrainingConfig& config, const Links& links,
                                const cluster::Calibration& calibration);

/// Estimates LayerCosts::sends alone; all other members depend only on the groups inside layers.
std::vector<Seconds> estimate_send_times(const plan::TrainingConfig& config, const Links& links);

}  // namespace rankwright::cost
