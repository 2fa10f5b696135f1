// Lower bounds of the step time of the candidates of a node. All are certain: no candidate takes
// less. The bounds of a whole step are cost/step.h's, those of memory memory_bounds.h's.
#pragma once

#include <algorithm>
#include <vector>

#include "rankwright/cost/layer_costs.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/search/node_space.h"

namespace rankwright::search {

/// A context-parallel algorithm whose attention kernels no other's are faster than. A ring works on
/// shorter blocks of keys and combines their outputs.
inline constexpr plan::CpComm kFastestKernels = plan::CpComm::all_gather;

/// Returns a lower bound of the step time over all stage splits: layers are not divided. If a kind
/// has n layers, some pp rank has at least n / pp, rounded up, and runs them for every microbatch.
/// If `halved`, also over DualPipe, where two ranks run each stage for half of the microbatches:
/// some pair of ranks has at least n / (pp / 2), rounded up, and each of the two runs half.
Seconds min_time_of_whole_layers(const SearchContext& context, const plan::TrainingConfig& config,
                                 const cost::LayerCosts& prices, bool halved);

/// Returns a lower bound of the step time over all stages, schedules and ZeRO stages.
Seconds min_step_time(const SearchContext& context, const plan::TrainingConfig& config,
                      const cost::LayerCosts& prices);

/// Returns a lower bound of the step time over all orders, context-parallel algorithms, both
/// choices of sequence parallelism and all of recompute: no communication, and sequence parallelism
/// where it is allowed. `config` is changed meanwhile and restored.
Seconds min_compute_time(const SearchContext& context, plan::TrainingConfig& config);

/// The parameters of all pp ranks, and lower bounds of those on the rank with the most, over all
/// stages and schedules.
struct ShareBounds {
  plan::Share all{};
  plan::Share heaviest{};  // each of its parts is a bound of its own
};
ShareBounds bound_shares(const plan::TrainingConfig& config);

/// A way to shard with the bound of its data traffic.
struct PricedShard {
  const Shard* shard = nullptr;
  cost::MinDataTime data{};
};

/// An axis order and a context-parallel algorithm with the times of their layers.
struct PricedOrder {
  const PlacedOrder* placed = nullptr;
  plan::CpComm comm{};
  cost::LayerCosts prices;
  std::size_t cost_class = 0;     // orders with equal layers and sends share a number
  Seconds min{};                  // lower bound of a step with one chunk per pp rank
  Seconds whole{}, halved{};      // min_time_of_whole_layers()
  Seconds per_chunk{};            // extra time of sends per additional chunk
  Seconds forward{}, backward{};  // minimum over all layer kinds, with recomputation
  Seconds again{};  // likewise, the recomputation of one layer if not all are recomputed
  std::vector<PricedShard> shards{};       // ways to shard that may be fast enough
  std::vector<const PricedShard*> left{};  // those with the current choice of recompute

  /// Returns the lower bound of a step with the chunks of `pipe`.
  Seconds min_with(const Pipe& pipe) const {
    const bool mirror = row(pipe.schedule).stage_order == pipeline::StageOrder::mirror;
    return std::max(min + double(pipe.chunks - 1) * per_chunk, mirror ? halved : whole);
  }
};

/// Layers of a looped pipeline: on its first and its last pp rank, and in the stages that a
/// microbatch passes before it reaches the last rank. Unknown for other pipelines.
struct EndStages {
  bool known = false;
  double first = 0, last = 0, before = 0;
  double first_again = 0, last_again = 0;  // fully recomputed, if not all layers are
};
/// Counts the layers of the end stages, of which a stage recomputes the first `recomputed`.
EndStages find_end_stages(const plan::Stages& stages, const Pipe& pipe, i64 pp, i64 recomputed);

/// Returns a lower bound of the step time from the first and the last pp rank (PT8), in constant
/// time. Requires: `ends` are those of the pipeline of `config`.
Seconds min_time(const SearchContext& context, const plan::TrainingConfig& config,
                 const PricedOrder& order, const Pipe& pipe, const EndStages& ends);

}  // namespace rankwright::search
