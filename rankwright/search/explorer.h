// For explore.cc and its parts only: goes through the candidates of one node. How groups lie on the
// cluster is lies.cc, what a step takes and a rank holds at least is least.cc, the rest
// explorer.cc.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/explore.h"

namespace rankwright::search {

/// A choice of ZeRO on one order of the axes.
struct Shard {
  int zero = 0;
  i64 size = 0;        // ranks of a shard; 0: all
  std::size_t at = 0;  // of this pair among all that the node has
  mesh::Span shard{}, replicate{};

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// An order of the axes: how its groups lie.
struct PlacedOrder {
  mesh::Order order{};
  cost::Links links;
  std::vector<Shard> shards{};
  std::size_t inside = 0;  // among the ways in which groups inside layers lie
  std::size_t tensor = 0;  // among those in which tensor-parallel groups lie
  i64 duplicates = 0,
      broken = 0;  // choices of ZeRO that come to another one, that arithmetic forbids
};

/// An order and an exchange, priced.
struct PricedOrder {
  PlacedOrder* placed = nullptr;
  plan::CpComm comm{};
  cost::LayerPrices prices;
  Seconds min{};    // of a step with one chunk a pp rank
  Seconds chunk{};  // what sends add for each chunk more
  // What a layer takes at least, whichever kind it is: forward, and then.
  Seconds forward{}, backward{};

  Seconds min_with(const Pipe& pipe) const { return min + double(pipe.chunks - 1) * chunk; }
};

/// Layers of a pipeline whose stages go round: on its first and last pp rank, and in the stages
/// that a microbatch passes before it comes to the last.
struct Ends {
  bool known = false;
  double first = 0, last = 0, before = 0;
};

/// A choice of ZeRO that fits, and what the step takes at least.
struct Fit {
  const Shard* shard = nullptr;
  Bytes memory{};
  Seconds min{};
};

/// Activations of one microbatch: of all layers on a rank that had them all, and of the layer that
/// keeps least.
struct LayerWeights {
  Bytes kept{}, lightest{};
};

/// Of a config whatever its order, sequence parallelism and recompute: nothing is sent, and
/// sequence parallelism divides what it can.
Seconds unlinked_time(const SearchContext& context, plan::TrainingConfig& config);

class Explorer {
 public:
  Explorer(const SearchContext& context, const Node& node, const Incumbent& known,
           StageSplitCache& split_cache)
      : context_(context),
        problem_(context.problem),
        node_(node),
        split_cache_(split_cache),
        best_(known.best.value_or(kInfiniteTime)),
        leanest_(known.leanest.value_or(kInfiniteBytes)),
        config_(config_of(context.problem, node)),
        shardings_(shardings(problem_, node)),
        pipes_(pipes(problem_, node)),
        comms_(cp_comms(problem_, node)),
        micro_batches_(micro_batches(problem_, node)),
        sequence_parallels_(sequence_parallels(problem_, node)),
        recomputes_(recomputes(problem_)) {}

  PartialResult all();

 private:
  plan::Plan& plan() { return config_.plan; }
  Seconds limit() const {
    return context_.bounds ? (1 + context_.windows.widest()) * best_ : kInfiniteTime;
  }
  /// Candidates that differ in neither order nor ZeRO.
  i64 outside_order() const {
    return i64(micro_batches_.size() * sequence_parallels_.size() * recomputes_.size() *
               comms_.size() * pipes_.size());
  }
  void microbatch(i64 size);
  void some_pipes(bool chunked);
  void enumerate_orders();
  PlacedOrder place_order(const mesh::Order& order);
  Seconds min_with_tensor(const PlacedOrder& placed);
  std::vector<PricedOrder> price_orders();
  std::vector<PricedOrder*> open_orders(std::vector<PricedOrder>& all);
  void weigh_states();
  void weigh_layers();
  const LayerWeights& weights() const { return weights_[std::size_t(config_.plan.recompute)]; }
  bool never_fits();
  Bytes min_memory(const Pipe& pipe) const;
  Bytes min_on_first() const;
  bool too_large(Bytes min) const;
  Ends ends(const Pipe& pipe) const;
  Seconds min_time(const PricedOrder& priced_order, const Pipe& pipe, const Ends& ends) const;
  void pipeline(const Pipe& pipe, const std::vector<PricedOrder*>& price_orders,
                const cost::LayerPrices& unlinked);
  void find_fitting(const PricedOrder& priced_order, Seconds min);
  void priced_order(PricedOrder& priced_order, const Pipe& pipe);
  bool refused();
  Bytes memory(const Shard& shard);
  /// Of the node, with this recompute: of those that fit for sure, or of the others.
  Seconds& fastest(int zero, bool sure) {
    return families_[std::size_t(config_.plan.recompute)][std::size_t(zero)][sure ? 1 : 0];
  }
  bool sure(Bytes memory) const { return memory <= context_.safe; }
  bool can_prune(Seconds min, int zero, Bytes memory);
  void keep(Seconds time, Bytes memory);
  /// Once the search is stopped, nothing more of the node is looked at.
  bool stopped() { return stopped_ = stopped_ || context_.stopped(); }
  void miss(plan::ConstraintViolation violation, i64 count) {
    out_.stats.find_violations[violation.why] += count;
  }

  const SearchContext& context_;
  const Problem& problem_;
  const Node& node_;
  StageSplitCache& split_cache_;
  Seconds best_;
  Bytes leanest_;
  plan::TrainingConfig config_;
  std::vector<Sharding> shardings_;
  std::vector<Pipe> pipes_;
  std::vector<Pipe> open_pipes_{};  // those of them that hide sends alike
  std::vector<plan::CpComm> comms_;
  std::vector<i64> micro_batches_;
  std::vector<bool> sequence_parallels_;
  std::vector<plan::Recompute> recomputes_;
  std::vector<PlacedOrder> placed_orders_{};
  std::size_t num_layer_placements_ = 0,
              num_tensor_placements_ = 0;  // in which groups inside layers lie, and those of tp
  // The fastest so far, by recompute, ZeRO stage and whether it fits for sure.
  std::array<std::array<std::array<Seconds, 2>, 4>, 3> families_{};
  std::vector<std::pair<int, i64>> sizes_{};  // ZeRO and shards that any order has
  std::vector<cost::RankLoad> loads_{};       // of this pipe
  std::vector<Bytes> totals_{};  // of this pipe, by Shard::at; kInfiniteBytes: not known yet
  std::vector<Fit> fitting_{};
  i64 shards_ = 0;                         // choices of ZeRO on all orders
  Bytes states_{};                         // of a rank, at least
  std::array<LayerWeights, 3> weights_{};  // by recompute
  i64 inside_ = 0;                         // candidates of one pipe
  plan::Stages stages_{};                  // of this pipe
  Ends ends_{};                            // and what stands at their ends
  PartialResult out_{};
  bool stopped_ = false;
};

}  // namespace rankwright::search
