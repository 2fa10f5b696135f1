// The choices of one node that do not depend on its pipeline: the axis orders with the spans of
// their groups, and the ways to shard on each. Computed once per node.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/cost/links.h"
#include "rankwright/search/explore.h"

namespace rankwright::search {

/// A ZeRO stage and shard size on one axis order.
struct Shard {
  int zero = 0;
  i64 size = 0;        // ranks per shard; 0: all data ranks
  std::size_t at = 0;  // index in NodeSpace::shard_sizes
  mesh::Span shard{}, replicate{};

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// An axis order and the spans of its groups.
struct PlacedOrder {
  mesh::Order order{};
  plan::Dispatcher dispatcher{};
  cost::Links links;
  std::vector<Shard> shards{};
  std::size_t layer_placement = 0;   // orders with equal groups inside layers share a number
  std::size_t tensor_placement = 0;  // orders with equal tensor-parallel groups share a number
  i64 duplicates = 0;                // ways to shard that are equivalent to another
  i64 broken = 0;                    // ways to shard that violate a constraint
};

/// Lower bounds of the model states of a node's pp ranks.
struct StateBounds {
  /// Layers of one run that count in the bound of the memory of layers.
  struct Run {
    std::size_t index = 0;          // of the run
    i64 count = 0;                  // with the MTP modules, which are at least as large
    std::array<Bytes, 4> states{};  // of one layer, by ZeRO stage
  };
  std::array<Bytes, 4> mean{};  // of the mean rank, by ZeRO stage; infinite if it is not searched
  std::vector<Bytes>
      before{};              // by layer: of all layers before it on one rank, with any ZeRO stage
  std::vector<Run> heavy{};  // the layers with experts; of a dense model, all
};

/// The pipelines that one choice of recompute can be combined with, and their schedules.
struct PipeSet {
  std::vector<Pipe> pipes{};
  std::vector<pipeline::Schedule> schedules{};
  std::vector<i64> recomputed{};  // by schedule: most layers that a pp rank recomputes
};

/// All choices of one node. Immutable once it is made.
struct NodeSpace {
  const SearchContext& context;
  Node node;
  plan::TrainingConfig config;  // the simplest plan of the node
  std::vector<Sharding> shardings{};
  std::vector<Pipe> pipes{};
  std::vector<plan::CpComm> comms{};
  std::vector<i64> micro_batches{};
  std::vector<bool> sequence_parallels{};
  std::vector<RecomputeChoice> recomputes{};
  /// By choice of recompute, of the pipelines that overlap their sends alike: all in one, or those
  /// with one chunk per pp rank and those with several.
  std::vector<std::vector<PipeSet>> pipe_sets{};
  i64 num_combinations = 0;           // of a choice of recompute and a pipeline
  std::vector<PlacedOrder> orders{};  // without duplicates
  std::size_t num_layer_placements = 0, num_tensor_placements = 0;
  std::vector<std::pair<int, i64>> shard_sizes{};  // ZeRO stage and shard size, of any order
  i64 num_shards = 0;                              // summed over orders
  StateBounds states{};
  /// Candidates per axis order with a choice that a rule of the target refuses, by rule. These
  /// choices are not listed above.
  std::map<std::string_view, i64> refused{};

  const Problem& problem() const { return context.problem; }
  /// Returns the number of candidates per axis order and way to shard.
  i64 candidates_per_shard() const {
    return i64(micro_batches.size() * sequence_parallels.size() * comms.size()) * num_combinations;
  }
  /// Returns the number of candidates per axis order.
  i64 candidates_per_order() const { return candidates_per_shard() * i64(shardings.size()); }
};

/// Enumerates the choices of a node but its orders.
NodeSpace make_unordered_space(const SearchContext& context, const Node& node);
/// Enumerates all choices of a node. Counts duplicates and violations of its orders in `stats`.
NodeSpace make_node_space(const SearchContext& context, const Node& node, SearchStats& stats);

}  // namespace rankwright::search
