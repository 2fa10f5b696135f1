// The time of one microbatch in one layer, in the output head and in the embedding, on one rank, by
// pass (forward, input gradient, weight gradient, recomputation) and by kind of work: matmuls by
// shape, attention by kernel, memory-bound operations, exposed collectives. Formulas L1 to L9.
// Bubbles and data parallelism are in step.h.
#pragma once

#include "rankwright/cost/links.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/model.h"

namespace rankwright::cost {

/// The time of one pass, by kind of work.
struct Pass {
  Seconds matmul{};
  Seconds attention{};  // the attention core
  Seconds elementwise{};
  Seconds casts{};
  Seconds permute{};  // of tokens to and from their experts, on the rank
  Seconds tp{};       // exposed collectives
  Seconds cp{};       // exposed collectives
  Seconds ep{};       // exposed collectives
  Seconds launch{};   // kernel-launch overhead

  Seconds total() const {
    return matmul + attention + elementwise + casts + permute + tp + cp + ep + launch;
  }
  Pass& operator+=(const Pass& other);
  friend Pass operator*(double times, const Pass& pass);
};

/// The time of one microbatch in one layer.
struct LayerTime {
  Pass forward{};
  Pass input{};         // input gradient
  Pass weight{};        // weight gradient
  Seconds selective{};  // selective recomputation
  Seconds again{};      // recomputation by the plan's policy, before the backward

  Seconds backward() const { return input.total() + weight.total(); }
  /// Switches to another recomputation policy.
  void recompute(plan::Recompute what) {
    again = what == plan::Recompute::full        ? forward.total()
            : what == plan::Recompute::selective ? selective
                                                 : Seconds{};
  }
};

/// The exposed tensor-parallel collectives of one block, attention or feed-forward (L5). With
/// sequence parallelism the backward gathers its input a second time, mostly overlapped by the
/// weight gradient.
struct BlockTime {
  Seconds forward{}, backward{};
};

/// Estimates the exposed tensor-parallel collectives of one block.
BlockTime estimate_block_time(const plan::TrainingConfig& config, const Links& links,
                              const cluster::Calibration& calibration);

/// Estimates the time of a layer. `again` is the recomputation of a layer that the plan recomputes,
/// even if it does not recompute all layers.
LayerTime estimate_layer_time(const plan::TrainingConfig& config, const model::Layer& layer,
                              const Rates& rates, const Links& links, const BlockTime& block,
                              const cluster::Calibration& calibration);

/// The time of one microbatch in the embedding or in the output head.
struct EmbeddingHeadTime {
  Pass forward{}, input{}, weight{};
};

/// Estimates the time of the output head and the loss.
EmbeddingHeadTime estimate_head_time(const plan::TrainingConfig& config, const Rates& rates,
                                     const Links& links, const BlockTime& block,
                                     const cluster::Calibration& calibration);

/// Estimates the time of the embedding.
EmbeddingHeadTime estimate_embedding_time(const plan::TrainingConfig& config, const Rates& rates,
                                          const Links& links, const BlockTime& block,
                                          const cluster::Calibration& calibration);

}  // namespace rankwright::cost
