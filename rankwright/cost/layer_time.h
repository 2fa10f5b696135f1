// What one microbatch takes in one layer, in the output head and in the embedding, on one rank: by
// pass (forward, input gradient, weight gradient, what runs again) and by what it is spent on.
// Matmuls by shape, attention by kernel, work that waits for memory, the collectives that the next
// operation waits for. Formulas L1 to L9. Bubbles and data parallelism are step.h.
#pragma once

#include "rankwright/cost/links.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/model.h"

namespace rankwright::cost {

/// What a pass is spent on.
struct Pass {
  Seconds matmul{};
  Seconds attention{};  // its core
  Seconds elementwise{};
  Seconds casts{};
  Seconds permute{};  // tokens to and from their experts, on the rank
  Seconds tp{};       // collectives that are not hidden
  Seconds cp{};
  Seconds ep{};
  Seconds launch{};  // the host is slower than the device

  Seconds total() const {
    return matmul + attention + elementwise + casts + permute + tp + cp + ep + launch;
  }
  Pass& operator+=(const Pass& other);
  friend Pass operator*(double times, const Pass& pass);
};

struct LayerTime {
  Pass forward{};
  Pass input{};         // gradient
  Pass weight{};        // gradient
  Seconds selective{};  // what selective recompute runs again
  Seconds again{};      // what the plan's does, before backward

  Seconds backward() const { return input.total() + weight.total(); }
  /// The same layer in a plan that recomputes otherwise.
  void recompute(plan::Recompute what) {
    again = what == plan::Recompute::full        ? forward.total()
            : what == plan::Recompute::selective ? selective
                                                 : Seconds{};
  }
};

/// L5: the tensor-parallel collectives of one block, attention's or the feed-forward's, that
/// overlap does not hide. Under sequence parallelism backward gathers its input a second time,
/// mostly beside the weight's gradient.
struct BlockTime {
  Seconds forward{}, backward{};
};
BlockTime block_time(const plan::TrainingConfig& config, const Links& links,
                     const cluster::Calibration& calibration);

/// Of a layer; `again` is what the plan recomputes of each layer that it recomputes.
LayerTime layer_time(const plan::TrainingConfig& config, const model::Layer& layer,
                     const Rates& rates, const Links& links, const BlockTime& block,
                     const cluster::Calibration& calibration);

/// One microbatch beside the layers.
struct EmbeddingHeadTime {
  Pass forward{}, input{}, weight{};
};
EmbeddingHeadTime head_time(const plan::TrainingConfig& config, const Rates& rates,
                            const Links& links, const BlockTime& block,
                            const cluster::Calibration& calibration);
EmbeddingHeadTime embedding_time(const plan::TrainingConfig& config, const Rates& rates,
                                 const Links& links, const BlockTime& block,
                                 const cluster::Calibration& calibration);

}  // namespace rankwright::cost
