// What one microbatch takes on a plan, layer kind by layer kind and at the edges, whatever the
// plan's schedule, chunks, stages and ZeRO: a search prices these once for all plans that differ in
// nothing else. What the stages make of them is step.h.
#pragma once

#include <algorithm>
#include <vector>

#include "rankwright/cost/layer_time.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// Layers of the model in a row that are alike.
struct KindPrice {
  i64 first = 0, end = 0;  // layers of the model
  LayerTime time{};
  plan::Share share{};

  i64 layers_in(const plan::Stage& stage, i64 stage_first) const {
    return std::min(end, stage_first + stage.layers) - std::max(first, stage_first);
  }
};

struct LayerPrices {
  Rates rates;
  std::vector<KindPrice> kinds{};
  EmbeddingHeadTime head{}, embedding{};
  Seconds send{};  // X2: one activation or gradient to the next stage

  /// The same for a plan that recomputes otherwise.
  void recompute(plan::Recompute what) {
    for (KindPrice& kind : kinds) kind.time.recompute(what);
  }
};

/// The config has no violation. `links` are the config's, or none at all: then nothing is sent, and
/// what comes of it is what any order of the axes takes at least.
LayerPrices layer_prices(const plan::TrainingConfig& config, const Links& links,
                         const cluster::Calibration& calibration);

/// The send of it: the rest looks at the groups inside layers alone.
Seconds send_time(const plan::TrainingConfig& config, const Links& links);

}  // namespace rankwright::cost
